import torch
from torch import state


class StopRecomputation(Exception):
    pass


def _checkpoint_without_reentrant_generator(fn, *args):
    def recompute():
        try:
            fn(*args)
        except StopRecomputation:
            pass

    yield
    state.tape.append(recompute)
    yield


def checkpoint(function, *args, use_reentrant=False):
    if use_reentrant:
        def backward():
            function(*args)
            torch.autograd.backward(None)

        result = function(*args)
        state.tape.append(backward)
        return result
    generator = _checkpoint_without_reentrant_generator(function, *args)
    next(generator)
    result = function(*args)
    next(generator)
    return result
