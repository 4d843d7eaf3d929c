"""NVTX push/pop ranges, kept nested on each thread whatever the program does.

Every open range of a thread is on a stack here, the program's own torch.cuda.nvtx ranges too, so
that a range that was left open by an exception is closed with the one around it, and an optimizer
step can be put around ranges that are open already.
"""
import threading


class UserText(str):
    """A range that the program itself opened with torch.cuda.nvtx: only it closes it."""


class _Thread(threading.local):
    def __init__(self):
        self.open = []        # texts, outermost first
        self.forward = 0      # level of the open forward pass; -1: unmarked, 0: none is open
        self.recomputing = 0  # checkpoint regions being recomputed


class Ranges:
    """`fail` is called with the error when push or pop fail; they don't raise."""

    def __init__(self, nvtx, fail):
        self._push, self._pop, self.mark = nvtx.rangePushA, nvtx.rangePop, nvtx.markA
        self._fail = fail
        self.local = _Thread()
        self.after_pop = None  # called with the stack after a pop, while a step is due to end

    def push(self, text):
        """Opens a range; returns its level, which pop wants, 0 if that failed."""
        try:
            stack = self.local.open
            self._push(text)
            stack.append(text)
            return len(stack)
        except Exception as error:
            self._fail(error)
            return 0

    def pop(self, level):
        """Closes the range of that level and what was left open inside it; 0 and less are none."""
        if level <= 0:
            return
        try:
            stack = self.local.open
            while len(stack) >= level:
                stack.pop()
                self._pop()
            if self.after_pop:
                self.after_pop(stack)
        except Exception as error:
            self._fail(error)

    def replace_outermost(self, old, text):
        """Closes `old`, if it is the outermost, and opens `text` there; the others stay open.

        They end and begin again under their names: NVTX knows only the innermost.
        """
        stack = self.local.open
        has_old = bool(stack) and stack[0] == old
        for _ in stack:
            self._pop()
        # A forward pass can't reach over a step; one that is open was left by an exception.
        inner = [t for t in (stack[1:] if has_old else stack) if t != "inquest:forward"]
        self.local.forward = 0
        stack[:] = [text] + inner if text else inner
        for each in stack:
            self._push(each)

    def user_push(self, text):
        depth = self._push(text)
        self.local.open.append(UserText(text))
        return depth

    def user_pop(self):
        """What torch.cuda.nvtx.range_pop does: never closes a range that is not the program's."""
        stack = self.local.open
        if not stack:
            return self._pop()
        while any(isinstance(text, UserText) for text in stack):
            depth = self._pop()
            if isinstance(stack.pop(), UserText):
                return depth
        return -1
