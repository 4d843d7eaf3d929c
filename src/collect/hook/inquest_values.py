"""Numbers of a step: peaks of the caching allocator, its retries, and tokens where they show."""


def _torch_stats(torch):
    """A call that returns memory statistics, nested.  The flattened form is ten times slower."""
    nested = getattr(torch._C, "_cuda_memoryStats", None)
    if nested is not None:
        return lambda: nested(torch.cuda.current_device())
    return torch.cuda.memory_stats_as_nested_dict


class Memory:
    """Reads and never resets: the program may look at its peaks itself."""

    def __init__(self, torch):
        self._cuda, self._stats = torch.cuda, _torch_stats(torch)
        self._retries = None

    def read(self):
        """Pairs of name and number; none before CUDA is in use."""
        if not self._cuda.is_initialized():
            return []
        stats = self._stats()
        retries = stats["num_alloc_retries"]
        before = retries if self._retries is None else self._retries
        self._retries = retries
        return [("peak_allocated_bytes", stats["allocated_bytes"]["all"]["peak"]),
                ("peak_reserved_bytes", stats["reserved_bytes"]["all"]["peak"]),
                ("alloc_retries", max(0, retries - before))]


class Tokens:
    """Of the forward passes since the last read: the first integer tensor of two dimensions."""

    def __init__(self, torch):
        self._integers = (torch.int64, torch.int32)
        self._tensor = torch.Tensor
        self._clear()

    def _clear(self):
        self._tokens = self._batch = self._length = 0
        self._is_unknown = False

    def see(self, args, kwargs):
        """The arguments of a root's forward pass."""
        for value in list(args) + list(kwargs.values()):
            if isinstance(value, self._tensor) and value.dtype in self._integers and \
                    value.dim() == 2:
                self._batch, self._length = int(value.shape[0]), int(value.shape[1])
                self._tokens += self._batch * self._length
                return
        self._is_unknown = True

    def read(self):
        found = [] if self._is_unknown or not self._tokens else [
            ("tokens", self._tokens), ("micro_batch", self._batch),
            ("sequence_length", self._length)]
        self._clear()
        return found
