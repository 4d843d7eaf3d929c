from .. import state
from . import profiler


def backward(tensors, grad_tensors=None):
    """Runs what the forward pass left on the tape, as the engine does, inside a graph task."""
    outer, state.graph_task = state.graph_task, state.graph_task + 1
    try:
        tape, state.tape = state.tape, []
        while tape:
            tape.pop()()
    finally:
        state.graph_task = outer
