"""Tells the hook when a module it patches has been imported, and finds the hook's own modules.

One finder in front of sys.meta_path: it finds nothing itself, but lets the other finders find and
then calls inquest_hook.patch(name, module) once the module has run.  Modules that nobody imports
stay unimported.
"""
import importlib.util
import os
import sys

OWN = ("inquest_hook", "inquest_ranges", "inquest_steps", "inquest_traced", "inquest_values",
       "inquest_flops")
WATCHED = (
    "torch",
    "torch.utils.checkpoint",
    "torch._dynamo",
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper",
    "torch.distributed.fsdp._fully_shard._fsdp_state",
    "torch.distributed._composable.fsdp._fsdp_state",
)


def debug(what):
    """Says what went wrong to those who ask; everybody else's training is not disturbed."""
    if os.environ.get("INQUEST_RECORD_DEBUG"):
        sys.stderr.write("inquest: hook: {}\n".format(what))


def _imported(name, module):
    try:
        import inquest_hook
        inquest_hook.patch(name, module)
    except Exception as error:
        debug("{}: {!r}".format(name, error))


def _call_when_run(loader, name):
    """Makes this one loader call when its module has run; it stays an instance of its class."""
    base = type(loader)

    class Calling(base):
        def exec_module(self, module):
            if module.__name__ != name:
                return base.exec_module(self, module)
            self.__class__ = base
            base.exec_module(self, module)
            return _imported(name, module)

    Calling.__name__, Calling.__qualname__ = base.__name__, base.__qualname__
    Calling.__module__ = base.__module__
    loader.__class__ = Calling


class _Finder:
    def __init__(self, folder):
        self._folder = folder
        self._searching = set()

    def find_spec(self, name, path=None, target=None):
        if name in OWN:
            return importlib.util.spec_from_file_location(
                name, os.path.join(self._folder, name + ".py"))
        if name not in WATCHED or name in self._searching:
            return None
        self._searching.add(name)
        try:
            return self._find(name, path, target)
        finally:
            self._searching.discard(name)

    def _find(self, name, path, target):
        for finder in sys.meta_path:
            search = getattr(finder, "find_spec", None)
            spec = search(name, path, target) if search and finder is not self else None
            if spec is not None:
                try:
                    _call_when_run(spec.loader, name)
                except Exception as error:
                    debug("{}: {!r}".format(name, error))
                return spec
        return None


def install(folder):
    sys.meta_path.insert(0, _Finder(folder))
