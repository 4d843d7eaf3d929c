from types import SimpleNamespace as _Names

from . import _C

retries = 0


def is_initialized():
    return True


def current_device():
    return 0


def memory_stats_as_nested_dict():
    return {"num_alloc_retries": retries, "allocated_bytes": {"all": {"peak": 1000}},
            "reserved_bytes": {"all": {"peak": 2000}}}


nvtx = _Names(
    range_push=lambda msg: _C._nvtx.rangePushA(msg), range_pop=lambda: _C._nvtx.rangePop())
