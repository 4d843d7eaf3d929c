"""The compiled part: NVTX prints, an outline of what is open."""
import threading

from . import IS_OLD, state

_depth = threading.local()


class _nvtx:
    @staticmethod
    def rangePushA(text):
        depth = getattr(_depth, "n", 0)
        print(" " * depth + text)
        _depth.n = depth + 1
        return depth

    @staticmethod
    def rangePop():
        _depth.n = getattr(_depth, "n", 0) - 1
        if _depth.n < 0:
            print("UNDERFLOW")
        return _depth.n

    @staticmethod
    def markA(text):
        print(" " * getattr(_depth, "n", 0) + "* " + text)


if not IS_OLD:
    def _current_graph_task_id():
        return state.graph_task

    def _cuda_memoryStats(device):
        from . import cuda
        return cuda.memory_stats_as_nested_dict()
