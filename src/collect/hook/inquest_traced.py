"""The few lines of the hook that torch.compile may trace, when an optimizer's step is compiled.

There they vanish: a graph break would be an error to a program that allows none.  The other files
of the hook are skipped by torch.compile as a whole.
"""


def optimizer_hooks(session, is_compiling):
    def before(optimizer, args, kwargs):
        if not is_compiling():
            session.begin_optimizer()

    def after(optimizer, args, kwargs):
        if not is_compiling():
            session.end_optimizer(optimizer)

    return before, after
