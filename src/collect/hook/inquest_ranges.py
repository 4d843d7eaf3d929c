"""NVTX push/pop ranges, kept nested on each thread whatever the program does.

Every open range of a thread is on a stack here, the program's own torch.cuda.nvtx ranges too, so
that a range that was left open by an exception is closed with the one around it, and an optimizer
step can be put around ranges that are open already.

What lies on a stack is what opened the range: a text, or the record_function itself.  A range is
closed by what opened it and on the thread where it did: anything else finds nothing to close.
"""
import threading
import weakref

FORWARD = "inquest:forward"
# No program nests so deep; one comes there where it enters and never leaves, on a thread that has
# no steps, and there the rest is not marked.
DEEPEST = 1000


class UserText(str):
    """A range that the program itself opened with torch.cuda.nvtx: only it closes it."""


class _Thread(threading.local):
    def __init__(self):
        self.open = []        # texts and record_functions, outermost first
        self.forward = None   # the open forward pass, marked or not
        self.recomputing = 0  # checkpoint regions being recomputed


def text_of(opener):
    return opener if isinstance(opener, str) else opener.name


def _still_held(stack):
    """Empties it; what on it can still be left, outermost first.

    A record_function that nobody but the stack holds never will.  One that is left on another
    thread than where it was entered may be there once an iteration: of each, one is kept, the
    innermost, since the one around it would close more than its own.
    """
    held = {}
    while stack:
        opener = stack.pop()
        held.setdefault(id(opener),
                        opener if isinstance(opener, str) else weakref.ref(opener))
        opener = None  # now it lives only if somebody else holds it
    alive = [each if isinstance(each, str) else each() for each in held.values()]
    return [opener for opener in reversed(alive) if opener is not None]


class Ranges:
    """`fail` is called with the error when push or pop fail; they don't raise."""

    def __init__(self, nvtx, fail):
        self._push, self._pop, self.mark = nvtx.rangePushA, nvtx.rangePop, nvtx.markA
        self._fail = fail
        self.local = _Thread()
        self.after_pop = None  # called with the stack after a pop, while a step is due to end

    def push(self, text):
        """Opens a range; returns what pop wants, None if there is none."""
        try:
            stack = self.local.open
            if len(stack) >= DEEPEST:
                return None
            self._push(text)
            stack.append(text)
            return text
        except Exception as error:
            self._fail(error)
            return None

    def pop(self, opener):
        """Closes the innermost range that this very object opened, and what is open inside it."""
        try:
            stack = self.local.open
            level = len(stack) - 1
            while level >= 0 and stack[level] is not opener:
                level -= 1
            while len(stack) > level >= 0:
                stack.pop()
                self._pop()
            if self.after_pop:
                self.after_pop(stack)
        except Exception as error:
            self._fail(error)

    def replace_outermost(self, old, text):
        """Closes `old`, if it is the outermost, and opens `text` there; the others stay open.

        They end and begin again under their names: NVTX knows only the innermost.  Those that
        nobody will close end for good.
        """
        stack = self.local.open
        has_old = bool(stack) and stack[0] == old
        for _ in stack:
            self._pop()
        inner = _still_held(stack)
        # A forward pass can't reach over a step; one that is open was left by an exception.
        self.local.forward = None
        stack[:] = ([text] if text else []) + [
            opener for opener in inner[has_old:] if opener is not FORWARD]
        for opener in stack:
            self._push(text_of(opener))

    def user_push(self, text):
        depth = self._push(text)
        self.local.open.append(UserText(text))
        return depth

    def user_pop(self):
        """What torch.cuda.nvtx.range_pop does: never closes a range that is not the program's."""
        stack = self.local.open
        if not stack:
            return self._pop()
        while any(isinstance(opener, UserText) for opener in stack):
            depth = self._pop()
            if isinstance(stack.pop(), UserText):
                return depth
        return -1
