"""What every law needs: the command, the traces, the schemas, and where results go."""

import functools
import json
import pathlib
import re

import tables
from tap import Tap
from tool import Failure, expect

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
MS = 1e6


class Bench:
    """Runs checks and keeps the score."""

    def __init__(self, tool, shared, only):
        self.tool = tool
        self.tap = Tap()
        self.only = only
        self.shared = shared if (shared / "truth.jsonl").exists() else None
        self.names = tables.EVERY if self.shared else tables.SAMPLES
        self.truth = self.lines("truth.jsonl", "name")
        self.reference = self.lines("reference.jsonl", "file")
        self.reference_path = self.lines("reference_path.jsonl", "name")

    def lines(self, file, key):
        if not self.shared:
            return {}
        with open(self.shared / file, encoding="utf-8") as lines:
            return {row[key]: row for row in map(json.loads, lines)}

    def folder(self, name):
        return self.shared or ROOT / "samples"

    def run(self, name):
        """The RUN argument of a recorded run."""
        return str(self.folder(name) / f"{name}.rank*.json.zst")

    def file(self, name, rank):
        return self.folder(name) / f"{name}.rank{rank}.json.zst"

    def have(self, *names):
        return all(name in self.names for name in names)

    def check(self, name, law, *arguments):
        """Runs `law`; whatever it raises is the failure."""
        if self.only and not re.search(self.only, name):
            return
        try:
            law(*arguments)
        except Failure as failure:
            self.tap.check(f"{name}: {failure}", False)
        except Exception as failure:  # pylint: disable=broad-except
            self.tap.check(f"{name}: the answer has another shape: {failure!r}", False)
        else:
            self.tap.check(name, True)

    def skip(self, name, why):
        if not self.only or re.search(self.only, name):
            self.tap.check(name, True, skip=why)

    def check_schema(self, name, command, *arguments):
        """The JSON of a command is what its schema says."""
        if jsonschema:
            self.check(name, valid, self, command, *arguments)
        else:
            self.skip(name, "no jsonschema")


@functools.lru_cache
def schema(command):
    with open(ROOT / "schemas" / f"{command}.schema.json", encoding="utf-8") as file:
        loaded = json.load(file)
    jsonschema.Draft7Validator.check_schema(loaded)
    return jsonschema.Draft7Validator(loaded)


def valid(bench, command, *arguments):
    answer = bench.tool.json(command, *arguments)
    error = next(schema(command).iter_errors(answer), None)
    expect(error is None, error and f"{'/'.join(map(str, error.absolute_path))}: {error.message}")
