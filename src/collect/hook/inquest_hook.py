"""Marks a training process's phases with NVTX ranges, once torch is imported.

The texts are those of src/collect/protocol.h.  Features of torch are probed, never versions; what
is not there is not marked.  The patched functions do what they did, and any failure here turns
the marking off and nothing else.
"""
import functools
import importlib
import itertools
import os
import sys
import weakref

from inquest_flops import STEP as FLOP_STEP, Flops
from inquest_imports import debug
from inquest_ranges import DEEPEST, FORWARD, Ranges
from inquest_steps import Steps, read_windows
from inquest_traced import optimizer_hooks
from inquest_values import Memory, Tokens

OPTIMIZER = "inquest:optimizer"
UNMARKED = "unmarked"  # instead of a range, where none is wanted: on no stack
ROOT_FORWARD = frozenset(("FullyShardedDataParallel.forward", "DistributedDataParallel.forward"))
SKIPPED = ("inquest_hook", "inquest_ranges", "inquest_steps", "inquest_values", "inquest_flops")
WRAPPERS = frozenset(("_checkpoint_wrapped_module", "_fsdp_wrapped_module", "_orig_mod"))

_session = None  # of this process, once torch is imported


def _ask(thing, name, default):
    """An attribute of what the program handed over, whose __getattr__ may raise anything."""
    try:
        return getattr(thing, name, default)
    except Exception:
        return default


class Session:
    """What the patched functions call.  Nothing here raises."""

    def __init__(self, torch, nvtx):
        windows = read_windows(os.environ.get("INQUEST_RECORD_STEPS"))
        has_flops = not os.environ.get("INQUEST_RECORD_NO_FLOPS")
        self.ranges = Ranges(nvtx, self.fail)
        self.steps = Steps(self.ranges, windows, FLOP_STEP if has_flops else None)
        self.steps.at_end = self.end_step
        self.memory, self.tokens = Memory(torch), Tokens(torch)
        self.flops = Flops(torch, self.ranges) if has_flops else None
        self.has_grad = torch.is_grad_enabled
        local = self.ranges.local
        self.has_graph_task = hasattr(torch._C, "_current_graph_task_id")
        self.graph_task = torch._C._current_graph_task_id if self.has_graph_task else (
            lambda: 0 if local.recomputing else -1)
        self.regions = itertools.count(1)
        self.module = getattr(getattr(torch, "nn", None), "Module", ())
        self.names = {}       # of modules, by id
        self.roots = weakref.WeakSet()
        self.is_dead = False

    def fail(self, error):
        self.is_dead = True
        self.steps.on = False
        debug(repr(error))

    # Forward, backward, optimizer.

    def enter(self, text):
        """Opens a range where ranges are wanted; what pop wants, UNMARKED for none."""
        return (self.steps.on and self.ranges.push(text)) or UNMARKED

    def begin_forward(self, root, args, kwargs):
        """A root's forward pass that trains; None for any other, else end_forward must follow."""
        try:
            local = self.ranges.local
            if self.is_dead or self.graph_task() != -1 or not self.has_grad():
                return None
            if local.forward:  # left by an exception
                self.end_forward(local.forward)
            self.steps.begin()
            self.tokens.see(args, kwargs)
            self.learn_names(root)
            local.forward = self.enter(FORWARD)
            if self.flops:
                self.flops.enter(self.steps.number)
            return local.forward
        except Exception as error:
            self.fail(error)
            return None

    def end_forward(self, opened):
        self.ranges.local.forward = None
        self.end_backward(opened)

    def begin_backward(self):
        """A backward call, unless it is inside another; then end_backward must follow."""
        try:
            if self.is_dead or self.graph_task() != -1:
                return None
            self.steps.begin()
            opened = self.enter("inquest:backward")
            if self.flops:
                self.flops.enter(self.steps.number)
            return opened
        except Exception as error:
            self.fail(error)
            return None

    def end_backward(self, opened):
        try:
            if self.flops:
                self.flops.leave()
            self.ranges.pop(opened)
        except Exception as error:
            self.fail(error)

    def begin_optimizer(self):
        self.enter(OPTIMIZER)

    def end_optimizer(self, optimizer):
        try:
            if self.is_dead:
                return
            self.ranges.pop(OPTIMIZER)
            self.steps.optimizer_done(optimizer)
        except Exception as error:
            self.fail(error)

    def end_step(self, is_recorded):
        """The numbers of a step, as marks inside it."""
        tokens = self.tokens.read()
        was_counted = self.flops.end_step() if self.flops else False
        flops = self.flops.read(dict(tokens).get("tokens")) if self.flops else []
        if not is_recorded:
            return
        values = self.read_memory() + tokens + flops
        if was_counted:
            values.append(("flop_counted", 1))  # its times are the counter's, not its own
        for name, value in values:
            self.ranges.mark("inquest:value:%s:%d" % (name, value))

    def read_memory(self):
        """An allocator that keeps no statistics costs them, and nothing else."""
        try:
            return self.memory.read() if self.memory else []
        except Exception as error:
            debug(repr(error))
            self.memory = None
            return []

    # Checkpoint regions.

    def learn_names(self, root):
        if root is None or root in self.roots:
            return
        self.roots.add(root)
        self.names.update(
            (id(module), ".".join(p for p in name.split(".") if p not in WRAPPERS))
            for name, module in root.named_modules())

    def region(self, function):
        """`function` inside a range, the same one when it runs again in backward."""
        try:
            # A module answers for what it lacks only after a long search.
            is_module = isinstance(function, self.module)
            if self.is_dead or (not is_module and _ask(function, "_inquest_region", False)):
                return function
            return self._make_region(function, function if is_module else self._owner(function))
        except Exception as error:
            self.fail(error)
            return function

    def _owner(self, function):
        owner = _ask(function, "func", function)  # of a partial
        return owner if isinstance(owner, self.module) else \
            _ask(owner, "__self__", owner)  # of a bound method

    def _make_region(self, function, owner):
        text = ":%d:%s" % (next(self.regions), self.names.get(id(owner), ""))
        local, steps, graph_task = self.ranges.local, self.steps, self.graph_task
        push, pop = self.ranges.push, self.ranges.pop
        # torch before 2.1 can't be asked; there a second run is taken for a recomputation.
        has_run = None if self.has_graph_task else []

        def run(*args, **kwargs):
            if not steps.on:
                return function(*args, **kwargs)
            if graph_task() == -1 and not has_run:
                if has_run is not None:
                    has_run.append(True)
                opened = push("inquest:checkpoint" + text)
                try:
                    return function(*args, **kwargs)
                finally:
                    pop(opened)
            opened = push("inquest:recompute" + text)
            local.recomputing += 1
            try:
                return function(*args, **kwargs)
            finally:
                local.recomputing -= 1
                pop(opened)

        run._inquest_region = True
        return run


def _patch_record_function(session, torch):
    """Most ranges of a step come this way, so what Ranges.push and pop do is done in line."""
    cls = torch.autograd.profiler.record_function
    enter, leave = cls.__enter__, cls.__exit__
    steps, ranges, local = session.steps, session.ranges, session.ranges.local

    @functools.wraps(enter)
    def __enter__(self):
        name = self.name
        if name in ROOT_FORWARD:
            self._inquest_forward = _begin_root(session)
        if steps.on:
            try:
                stack = local.open
                if len(stack) < DEEPEST:
                    ranges._push(name)
                    stack.append(self)
                    self._inquest_is_marked = True
            except Exception as error:
                session.fail(error)
        return enter(self)

    @functools.wraps(leave)
    def __exit__(self, exc_type, exc_value, traceback):  # the names of torch: some pass them
        try:
            return leave(self, exc_type, exc_value, traceback)
        finally:
            if self._inquest_is_marked:  # once or more, on this thread or another
                try:
                    stack = local.open
                    if stack and stack[-1] is self and not ranges.after_pop:
                        stack.pop()
                        ranges._pop()
                    else:
                        ranges.pop(self)
                except Exception as failure:
                    session.fail(failure)
            forward = self._inquest_forward
            if forward:
                self._inquest_forward = None
                session.end_forward(forward)

    cls._inquest_is_marked, cls._inquest_forward = False, None
    cls.__enter__, cls.__exit__ = __enter__, __exit__


def _begin_root(session):
    if session.ranges.local.forward:
        return None  # a unit inside the root
    seen = sys._getframe(2).f_locals  # of the forward, which opens the range
    return session.begin_forward(
        seen.get("self"), seen.get("args") or seen.get("inputs") or (), seen.get("kwargs") or {})


def _patch_backward(session, torch):
    original = torch.autograd.backward

    @functools.wraps(original)
    def backward(*args, **kwargs):
        opened = session.begin_backward()
        if not opened:
            return original(*args, **kwargs)
        try:
            return original(*args, **kwargs)
        finally:
            session.end_backward(opened)

    torch.autograd.backward = backward


def _patch_optimizer(session, torch):
    module = importlib.import_module("torch.optim.optimizer")  # torch.optim hides the name
    if not hasattr(module, "register_optimizer_step_post_hook"):
        return False
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
    before, after = optimizer_hooks(session, is_compiling)
    module.register_optimizer_step_pre_hook(before)
    module.register_optimizer_step_post_hook(after)
    return True


def _patch_optimizer_ranges(session, torch):
    """torch before global hooks: the range around every optimizer's step tells the same."""
    cls = torch.autograd.profiler.record_function
    enter, leave = cls.__enter__, cls.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        result = enter(self)
        if self.name.startswith("Optimizer.step#"):
            session.begin_optimizer()
        return result

    @functools.wraps(leave)
    def __exit__(self, exc_type, exc_value, traceback):
        if exc_type is None and self.name.startswith("Optimizer.step#"):
            session.end_optimizer(self.name)
        return leave(self, exc_type, exc_value, traceback)

    cls.__enter__, cls.__exit__ = __enter__, __exit__


def _patch_nvtx(session, torch):
    """The program's own ranges go through the same stack, so that a step can reach around them."""
    torch.cuda.nvtx.range_push = functools.wraps(torch.cuda.nvtx.range_push)(
        lambda msg: session.ranges.user_push(msg))
    torch.cuda.nvtx.range_pop = functools.wraps(torch.cuda.nvtx.range_pop)(
        lambda: session.ranges.user_pop())


def _patch_checkpoint(module):
    session = _session
    original = module.checkpoint

    @functools.wraps(original)
    def checkpoint(function, *args, **kwargs):
        return original(session.region(function), *args, **kwargs)

    module.checkpoint = checkpoint
    # The composable API goes straight to the generator, which calls the function only to
    # recompute.
    generator = getattr(module, "_checkpoint_without_reentrant_generator", None)
    if generator is not None:
        @functools.wraps(generator)
        def wrapped(function, *args, **kwargs):
            return generator(session.region(function), *args, **kwargs)

        module._checkpoint_without_reentrant_generator = wrapped


def _patch_fsdp2(module):
    """The root's forward pass, from points that torch.compile never traces."""
    session, cls = _session, module.FSDPState
    before, after = cls._root_pre_forward, cls._register_pre_backward_hook
    if hasattr(before, "_inquest_patched"):
        return  # the old place may hand out the new place's class

    @functools.wraps(before)
    def _root_pre_forward(self, module, args, kwargs):
        opened = None
        if self._state_ctx.iter_forward_root is None:
            opened = session.begin_forward(module, args, kwargs)
        if opened:
            self._inquest_forward = opened
        return before(self, module, args, kwargs)

    @functools.wraps(after)
    def _register_pre_backward_hook(self, output):
        result = after(self, output)
        if self.__dict__.get("_inquest_forward") and self._state_ctx.iter_forward_root is self:
            session.end_forward(self.__dict__.pop("_inquest_forward"))
        return result

    _root_pre_forward._inquest_patched = True
    cls._root_pre_forward = _root_pre_forward
    cls._register_pre_backward_hook = _register_pre_backward_hook


def _patch_dynamo(module):
    """torch.compile leaves the hook's own code alone; what that calls it may compile."""
    for name in SKIPPED:
        module.trace_rules.add(name)


def _in_child():
    """A forked worker trains nothing, and the collector in it is inert."""
    if _session:
        _session.is_dead = True
        _session.steps.on = False


def start(torch, nvtx=None):
    """Begins to mark.  `nvtx`: what to mark with instead of torch's NVTX, for tests."""
    global _session
    nvtx = nvtx or getattr(torch._C, "_nvtx", None)
    if nvtx is None:
        debug("this torch has no NVTX")
        return
    _session = session = Session(torch, nvtx)
    if not _patch_optimizer(session, torch):
        _patch_optimizer_ranges(session, torch)
    _patch_record_function(session, torch)
    _patch_backward(session, torch)
    _patch_nvtx(session, torch)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_child)


def _patch_wrapper(module):
    """Usually imports what is patched already."""
    checkpoint = sys.modules["torch.utils.checkpoint"].checkpoint
    if hasattr(module, "torch_utils_checkpoint"):
        module.torch_utils_checkpoint = checkpoint


_PATCHES = {
    "torch.utils.checkpoint": _patch_checkpoint,
    "torch._dynamo": _patch_dynamo,
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper": _patch_wrapper,
    "torch.distributed.fsdp._fully_shard._fsdp_state": _patch_fsdp2,
    "torch.distributed._composable.fsdp._fsdp_state": _patch_fsdp2,
}


def patch(name, module):
    """A watched module was imported.  torch comes last of those that it imports itself."""
    if name == "torch":
        start(module)
        if _session:
            for other, function in _PATCHES.items():
                if other in sys.modules:
                    _patch_safely(other, function, sys.modules[other])
    elif _session:
        _patch_safely(name, _PATCHES[name], module)


def _patch_safely(name, function, module):
    try:
        function(module)
    except Exception as error:
        debug("{}: {!r}".format(name, error))
