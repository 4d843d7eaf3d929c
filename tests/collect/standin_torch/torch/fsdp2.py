from types import SimpleNamespace

from torch.autograd.profiler import record_function


def make():
    """The class, one for each place that has it."""
    class FSDPState:
        """`context` is shared by the states under one root, once it has run."""

        def __init__(self, name, context=None):
            self.name = name
            self._state_ctx = context or SimpleNamespace(iter_forward_root=None)

        def _root_pre_forward(self, module, args, kwargs):
            if self._state_ctx.iter_forward_root is not None:
                return args, kwargs
            self._state_ctx.iter_forward_root = self
            with record_function("FSDP::root_pre_forward"):
                return args, kwargs

        def _pre_forward(self, module, args, kwargs):
            args, kwargs = self._root_pre_forward(module, args, kwargs)
            with record_function("FSDP::pre_forward" + self.name):
                return args, kwargs

        def _register_pre_backward_hook(self, output):
            return output

        def _post_forward(self, module, args, output):
            with record_function("FSDP::post_forward" + self.name):
                output = self._register_pre_backward_hook(output)
            if self._state_ctx.iter_forward_root is self:
                self._state_ctx.iter_forward_root = None
            return output

    return FSDPState
