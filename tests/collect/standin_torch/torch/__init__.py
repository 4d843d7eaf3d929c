"""As much of torch as the recorder's hook touches, so that it is tested where torch is not.

The shapes are those of torch 2.11, whose own behaviour hook_test.py checks where it is installed;
STANDIN_TORCH=old takes those of torch 1.13 and 2.4: no global optimizer hooks, no nested memory
statistics, no graph task id, the composable FSDP's old place.
"""
import os

IS_OLD = os.environ.get("STANDIN_TORCH") == "old"
int64, int32, float32 = "int64", "int32", "float32"

from . import _C  # noqa: E402
from . import state  # noqa: E402


class Tensor:
    def __init__(self, *shape, dtype=float32):
        self.shape, self.dtype = shape, dtype

    def dim(self):
        return len(self.shape)

    def backward(self):
        autograd.backward(self)


def is_grad_enabled():
    return state.has_grad


from . import autograd, cuda, optim  # noqa: E402
