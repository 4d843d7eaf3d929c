"""Floating point operations of one step, by phase, with torch's own formulas.

A dispatch mode sees every op of one early step, inside the root's forward pass and inside
backward, and nothing else ever.  It is left out where it could change what the program does: when
something was compiled, when another mode is active, or when flex attention is in use.
"""
import sys

STEP = 1  # the second: the first one allocates, compiles and warms up


def _was_compiled():
    utils = sys.modules.get("torch._dynamo.utils")
    return utils is None or not hasattr(utils, "counters") or \
        bool(utils.counters.get("frames"))


def _is_safe(torch):
    if "torch.nn.attention.flex_attention" in sys.modules:
        return False
    if "torch._dynamo" in sys.modules and _was_compiled():
        return False
    depth = getattr(torch._C, "_len_torch_dispatch_stack", None)
    return depth is not None and depth() == 0


def _make_mode(torch, local):
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry
    graph_task = torch._C._current_graph_task_id
    plain = (torch.Tensor, torch.nn.Parameter)

    class Counter(TorchDispatchMode):
        supports_higher_order_operators = True

        def __init__(self):
            super().__init__()
            self.flop = {"forward": 0, "recompute": 0, "backward": 0}

        def _phase(self):
            if local.recomputing:
                return "recompute"
            return "backward" if graph_task() != -1 else "forward"

        def _count(self, func, args, kwargs, out):
            formula = flop_registry.get(getattr(func, "_overloadpacket", None))
            if formula:
                self.flop[self._phase()] += int(formula(*args, **kwargs, out_val=out))

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if any(t not in plain for t in types):
                return NotImplemented  # its own ops come here again, on what this rank holds
            kwargs = kwargs or {}
            out = func(*args, **kwargs)
            try:
                self._count(func, args, kwargs, out)
            except Exception:
                self.flop = dict.fromkeys(self.flop, -1 << 62)  # never a number that is too small
            return out

    return Counter()


class Flops:
    def __init__(self, torch, ranges):
        self._torch, self._local = torch, ranges.local
        self._mode = None
        self._is_open = False
        self._result = []
        self._has_tokens, self._tokens = False, None

    def enter(self, step):
        """A forward pass or a backward call begins; whether leave must be called."""
        if step != STEP or self._is_open or not _is_safe(self._torch):
            return False
        if self._mode is None:
            self._mode = _make_mode(self._torch, self._local)
        self._mode.__enter__()
        self._is_open = True
        return True

    def leave(self):
        if not self._is_open:
            return
        from torch.utils._python_dispatch import _get_current_dispatch_mode
        self._is_open = False
        if _get_current_dispatch_mode() is self._mode:
            self._mode.__exit__(None, None, None)

    def end_step(self):
        """Whether the step was slowed by counting."""
        self.leave()
        if self._mode is None:
            return False
        flop, self._mode = self._mode.flop, None
        if min(flop.values()) >= 0 and flop["forward"] and flop["backward"]:
            self._result = [(phase + "_flop", count) for phase, count in flop.items()]
        return True

    def read(self, tokens):
        """The step's numbers, for every step that is of the same size as the one counted."""
        if self._result and not self._has_tokens:
            self._has_tokens, self._tokens = True, tokens
        return self._result if tokens == self._tokens else []
