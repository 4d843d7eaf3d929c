from .optimizer import Optimizer

del optimizer  # noqa: F821  torch's own does so too
