"""The optimizer steps: where one ends and the next begins, and which of them are recorded.

Step N reaches from the end of optimizer step N-1 to its own; the first begins with the first
forward pass of an FSDP root or the first backward call, whichever comes first.  With several
optimizers, the first one leads: its step ends a step, the others' don't, until it is gone or
another has stepped twice without it.
"""
import threading
import weakref

from inquest_ranges import text_of


def read_windows(text):
    """"10:20,30:" as [(10, 20), (30, None)]; no text is everything."""
    windows = []
    for part in filter(None, (text or "").split(",")):
        first, _, last = part.partition(":")
        windows.append((int(first or 0), int(last) if last else None))
    return windows or [(0, None)]


def _reference(optimizer):
    try:
        return weakref.ref(optimizer)
    except TypeError:  # a name, where torch has no hooks that hand over the optimizer
        return lambda: optimizer


class Steps:
    def __init__(self, ranges, windows, also=None):
        self.ranges = ranges
        self.windows = windows
        self.also = also      # a step outside the windows in which the hook works too
        self.number = None    # of the step at hand; None before the first
        self.on = False       # whether ranges are wanted
        self.at_end = None    # called before a step closes, with whether it is recorded
        self._thread = None
        self._leader = None
        self._seen = set()
        self._due_depth = 0

    def _is_recorded(self, number):
        return any(a <= number and (b is None or number < b) for a, b in self.windows)

    def _open(self, number):
        old = None if self.number is None else "inquest:step:%d" % self.number
        self.ranges.replace_outermost(old, "inquest:step:%d" % number)
        self.number = number
        self.on = number == self.also or self._is_recorded(number)

    def begin(self):
        """The training begins, on this thread; later calls do nothing."""
        if self.number is None:
            self._thread = threading.get_ident()
            self._open(0)

    def _turn(self):
        self.ranges.after_pop = None
        if self.at_end:
            self.at_end(self._is_recorded(self.number))
        self._open(self.number + 1)

    def _after_pop(self, stack):
        if len(stack) <= self._due_depth and threading.get_ident() == self._thread:
            self._turn()

    def _is_boundary(self, optimizer):
        leader = self._leader and self._leader()
        key = optimizer if isinstance(optimizer, str) else id(optimizer)
        if leader is None or leader is optimizer or leader == key or key in self._seen:
            self._leader = _reference(optimizer)
            self._seen.clear()
            return True
        self._seen.add(key)
        return False

    def optimizer_done(self, optimizer):
        """An optimizer has stepped.  The step closes now, or with the range of torch around it."""
        if self.number is None or not self._is_boundary(optimizer):
            return
        is_here = threading.get_ident() == self._thread
        stack = self.ranges.local.open
        if self.ranges.after_pop and is_here:
            self._turn()  # the range that was waited for never closed
        if is_here and not (stack and text_of(stack[-1]).startswith("Optimizer.step#")):
            self._turn()
            return
        # On another thread, an optimizer that steps inside backward: when that is over.
        self._due_depth = len(stack) - 1 if is_here else 1
        self.ranges.after_pop = self._after_pop
