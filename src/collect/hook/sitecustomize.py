"""Python's start-up hook in a recorded run: `inquest record` puts this folder first on PYTHONPATH.

Waits for torch to be imported, and until then costs a look-up an import; without torch it does
nothing.  A sitecustomize that was there before runs as if this one were not.  Nothing here may
change what the program does: any failure is silent, but for INQUEST_RECORD_DEBUG=1.
"""
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _is_wanted():
    return sys.version_info >= (3, 8) and bool(os.environ.get("INQUEST_RECORD_PARENT"))


def _leave_path():
    """The program sees the path it would have had; child processes find us by PYTHONPATH."""
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != _FOLDER]


def _install():
    from importlib.util import module_from_spec, spec_from_file_location
    name = "inquest_imports"
    spec = spec_from_file_location(name, os.path.join(_FOLDER, name + ".py"))
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    module.install(_FOLDER)


def _chain():
    """Runs the sitecustomize that this one hides, under its own name."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_leave_path()
if _is_wanted():
    try:
        _install()
    except Exception as error:  # the training comes first
        if os.environ.get("INQUEST_RECORD_DEBUG"):
            sys.stderr.write("inquest: hook: {!r}\n".format(error))
_chain()
