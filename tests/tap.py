"""The Test Anything Protocol, as much as our scripts need."""


class Tap:
    """Prints a line a check as it is made, and the plan at the end."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, name, ok, *told, skip=None):
        """One check; `told` are lines that say what was measured and what was expected."""
        self.count += 1
        if skip:
            print(f"ok {self.count} - {name} # SKIP {skip}", flush=True)
            return
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}")
        if not ok:
            self.failed += 1
            for line in told:
                self.note(line)
        print(end="", flush=True)

    def rule(self, name, breaches, skip=None):
        """A check that holds when the iterable `breaches` is empty."""
        told = [] if skip else list(breaches)
        self.check(name, not told, *told, skip=skip)

    def note(self, line):
        print(f"# {line}")

    def end(self):
        """The plan; returns the exit code."""
        print(f"1..{self.count}")
        return 1 if self.failed or not self.count else 0
