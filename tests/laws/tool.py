"""Runs the command and reads what it says; each call is made once and kept."""

import json
import subprocess


class Answer:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


class Tool:
    def __init__(self, program):
        self.program = program
        self.kept = {}

    def run(self, *arguments):
        if arguments not in self.kept:
            done = subprocess.run([self.program, *arguments], capture_output=True, check=False,
                                  timeout=240)
            self.kept[arguments] = Answer(done.returncode, done.stdout.decode(errors="replace"),
                                          done.stderr.decode(errors="replace"))
        return self.kept[arguments]

    def json(self, *arguments):
        """The parsed JSON; a crash or an unreadable answer raises, which fails the check."""
        answer = self.run(*arguments, "--format", "json")
        if answer.code not in (0, 1, 4):
            raise Failure(f"exit {answer.code}: {answer.err.strip() or 'nothing on stderr'}")
        return json.loads(answer.out)

    def breakdown(self, run, *options):
        return self.json("breakdown", run, *options)["runs"][0]

    def text(self, *arguments):
        return self.run(*arguments, "--format", "text").out


class Failure(Exception):
    """What was measured against what was expected, in one line."""


def expect(ok, told):
    if not ok:
        raise Failure(told)


def within(what, measured, low, high, unit=""):
    if measured is None:
        raise Failure(f"{what} is null, expected {low:g} to {high:g} {unit}")
    expect(low <= measured <= high,
           f"{what} is {measured:.4g}{unit and ' ' + unit}, expected {low:g} to {high:g}")


def near(what, measured, value, tolerance, unit=""):
    within(what, measured, value - tolerance, value + tolerance, unit)
