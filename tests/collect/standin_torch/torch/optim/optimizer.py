import torch

_before, _after = [], []

if not torch.IS_OLD:
    def register_optimizer_step_pre_hook(hook):
        _before.append(hook)

    def register_optimizer_step_post_hook(hook):
        _after.append(hook)


class Optimizer:
    def step(self):
        with torch.autograd.profiler.record_function("Optimizer.step#%s.step" % type(self).__name__):
            for hook in _before:
                hook(self, (), {})
            self.work()
            for hook in _after:
                hook(self, (), {})

    def work(self):
        pass
