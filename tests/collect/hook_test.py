"""The recorder's Python hook, on a stand-in for torch and, where it is installed, on torch itself.

Each case is a training program that runs under the hook; NVTX is replaced by something that prints
an outline of what is open.  The older shapes of torch exist here as stand-ins only.
Prints TAP.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from tap import Tap  # noqa: E402

HOOK = HERE.parents[1] / "src" / "collect" / "hook"
STANDIN = HERE / "standin_torch"

# The program: a model of one unit inside a root, FSDP2's way, each block in a checkpoint region.
MODEL = '''
import torch
import torch.utils.checkpoint as c
try:
    from torch.distributed.{place} import FSDPState
except ImportError:
    FSDPState = None

class Model:
    def named_modules(self):
        return [("", self), ("layers.0._checkpoint_wrapped_module", block)]

def block(x):
    return x

class AdamW(torch.optim.Optimizer):
    pass

class SGD(torch.optim.Optimizer):
    pass

model = Model()
root = FSDPState("")
unit = FSDPState(" (layers.0)", root._state_ctx)

def forward(x, function=block, **how):
    root._pre_forward(model, (x,), {{}})
    unit._pre_forward(block, (x,), {{}})
    c.checkpoint(function, x, **how)
    unit._post_forward(block, (x,), x)
    root._post_forward(model, (x,), x)

def batch():
    return torch.Tensor(2, 8, dtype=torch.int64)

opt = AdamW()
'''
NEW, OLD = "fsdp._fully_shard._fsdp_state", "_composable.fsdp._fsdp_state"

FORWARD = """\
inquest:forward
 FSDP::root_pre_forward
 FSDP::pre_forward
 FSDP::pre_forward (layers.0)
 inquest:checkpoint:{0}:layers.0
 FSDP::post_forward (layers.0)
 FSDP::post_forward
"""
BACKWARD = """\
inquest:backward
 inquest:recompute:{0}:layers.0
"""
OPTIMIZER = """\
Optimizer.step#AdamW.step
 inquest:optimizer
"""
VALUES = """\
* inquest:value:peak_allocated_bytes:1000
* inquest:value:peak_reserved_bytes:2000
* inquest:value:alloc_retries:{1}
* inquest:value:tokens:{0}
* inquest:value:micro_batch:2
* inquest:value:sequence_length:8
"""


def step(number, *parts):
    return f"inquest:step:{number}\n" + textwrap.indent("".join(parts), " ")


def run(program, path=(STANDIN,), python=sys.executable, **environment):
    """What a program prints under the hook, and on stderr."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "train.py")
        file.write_text(program)
        done = subprocess.run(
            [python, str(file)], capture_output=True, text=True, check=False, timeout=300,
            cwd=folder, env={
                "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": os.pathsep.join(map(str, (HOOK, *path))),
                "INQUEST_RECORD_PARENT": "1", "INQUEST_RECORD_DEBUG": "1", **environment})
    return done.stdout, done.stderr


def expect(tap, name, program, *parts, place=NEW, **environment):
    """The outline of a program on the stand-in; the last step, just begun, needs no mention."""
    printed, told = run(MODEL.format(place=place) + program, **environment)
    expected = "".join(parts)
    rest = printed[len(expected):].splitlines()
    ok = printed.startswith(expected) and not told and \
        (not rest or (len(rest) == 1 and rest[0].startswith("inquest:step:")))
    tap.check(name, ok, "printed:", *printed.splitlines(), *told.splitlines(), "expected:",
              *expected.splitlines())


def phases(tap):
    one_step = "forward(batch())\nbatch().backward()\nopt.step()\n"
    parts = [step(i, FORWARD.format(i + 1), BACKWARD.format(i + 1), OPTIMIZER, VALUES.format(16, 0))
             for i in range(3)]
    expect(tap, "two steps", one_step * 2, *parts[:2])
    for place, shape in ((OLD, "new"), (NEW, "old"), (OLD, "old")):
        expect(tap, f"two steps, FSDP2 in {place}, the {shape} torch", one_step * 2, *parts[:2],
               place=place, STANDIN_TORCH=shape)
    expect(tap, "two micro-batches", "forward(batch())\nbatch().backward()\n" * 2 + "opt.step()",
           step(0, FORWARD.format(1), BACKWARD.format(1), FORWARD.format(2), BACKWARD.format(2),
                OPTIMIZER, VALUES.format(32, 0)))
    expect(tap, "reentrant", "forward(batch(), use_reentrant=True)\nbatch().backward()\nopt.step()",
           parts[0])
    expect(tap, "evaluation is no forward pass",
           "torch.state.has_grad = False\nforward(batch())\ntorch.state.has_grad = True\n"
           "torch.state.tape.clear()\n" + one_step,
           step(0, FORWARD, BACKWARD, OPTIMIZER, VALUES).format(2, 0).replace(
               "tokens:2", "tokens:16"))
    expect(tap, "retries are those of the step",
           one_step + "torch.cuda.retries = 3\n" + one_step + one_step,
           parts[0], parts[1].replace("retries:0", "retries:3"), parts[2])
    expect(tap, "inputs that are no tokens", "forward(torch.Tensor(2, 8))\n" + "opt.step()",
           step(0, FORWARD.format(1), OPTIMIZER, VALUES[:VALUES.index("* inquest:value:tokens")]
                .format(0, 0)))


def regions(tap):
    expect(tap, "early stop closes its range", """
def stops(x):
    if torch.state.graph_task != -1:
        with torch.autograd.profiler.record_function("inside"):
            raise c.StopRecomputation
c.checkpoint(stops, 1)
batch().backward()
c.checkpoint(stops, 1)
batch().backward()
""", "inquest:step:0\n inquest:backward\n  inquest:recompute:1:\n   inside\n"
     " inquest:checkpoint:2:\n inquest:backward\n  inquest:recompute:2:\n   inside\n")
    expect(tap, "an error reaches the program", """
def fails(x):
    raise KeyError("mine")
batch().backward()
try:
    c.checkpoint(fails, 1)
except KeyError as error:
    print(error)
batch().backward()
""", "inquest:step:0\n inquest:backward\n inquest:checkpoint:1:\n'mine'\n inquest:backward\n")
    expect(tap, "a bound method and a partial have their module's name", """
import functools
class Block:
    def __call__(self, x):
        return x
block = Block()
forward(batch(), block.__call__)
c.checkpoint(functools.partial(block, 1))
""", step(0, FORWARD.format(1), "inquest:checkpoint:2:layers.0\n"))
    expect(tap, "a callable whose __getattr__ raises is marked without a name", """
class Closed:
    def __call__(self, x):
        return x
    def __getattr__(self, name):
        raise RuntimeError(name)
batch().backward()
c.checkpoint(Closed(), 1)
batch().backward()
""", step(0, "inquest:backward\ninquest:checkpoint:1:\n",
          BACKWARD.format(1).replace("layers.0", "")))
    expect(tap, "the generator alone marks recomputation", """
batch().backward()
generator = c._checkpoint_without_reentrant_generator(block, 1)
next(generator); block(1); next(generator)
batch().backward()
""", "inquest:step:0\n inquest:backward\n inquest:backward\n  inquest:recompute:1:\n")


def steps(tap):
    empty = "batch().backward()\n"
    outline = " inquest:backward\n"
    values = textwrap.indent(VALUES[:VALUES.index("* inquest:value:tokens")].format(0, 0), " ")
    adamw = textwrap.indent(OPTIMIZER, " ")
    sgd = adamw.replace("AdamW", "SGD")
    expect(tap, "the first of two optimizers leads", f"other = SGD()\n{empty}opt.step()\nother.step()\n"
           f"{empty}opt.step()\nother.step()\n",
           "inquest:step:0\n", outline, adamw, values,
           "inquest:step:1\n", sgd, outline, adamw, values, "inquest:step:2\n", sgd)
    expect(tap, "another leads when the first is gone", f"{empty}opt.step()\ndel opt\nopt = SGD()\n"
           f"{empty}opt.step()\n",
           "inquest:step:0\n", outline, adamw, values, "inquest:step:1\n", outline, sgd, values)
    expect(tap, "another leads when it steps twice alone", f"other = SGD()\n{empty}opt.step()\n"
           f"{empty}other.step()\n{empty}other.step()\n{empty}other.step()\n",
           "inquest:step:0\n", outline, adamw, values,
           "inquest:step:1\n", outline, sgd, outline, sgd, values,
           "inquest:step:2\n", outline, sgd, values)
    expect(tap, "an optimizer that steps inside backward, on another thread", """
import threading
def inside():
    thread = threading.Thread(target=opt.step)
    thread.start()
    thread.join()
for i in range(2):
    torch.state.tape.append(inside)
    batch().backward()
""", *(f"inquest:step:{i}\n inquest:backward\nOptimizer.step#AdamW.step\n inquest:optimizer\n"
       + values for i in range(2)))
    expect(tap, "a range around each iteration", f"""
for i in range(2):
    with torch.autograd.profiler.record_function("iteration"):
        {empty.strip()}
        opt.step()
""", "inquest:step:0\n", outline, adamw, values, "inquest:step:1\n iteration\n",
         textwrap.indent(outline + adamw, " "), values.replace(" *", "  *"),
         "inquest:step:2\n iteration\n")
    expect(tap, "the program's own NVTX ranges around steps", f"""
torch.cuda.nvtx.range_push("all")
for i in range(2):
    torch.cuda.nvtx.range_push("iteration")
    {empty.strip()}
    opt.step()
    print(torch.cuda.nvtx.range_pop())
torch.cuda.nvtx.range_pop()
print(torch.cuda.nvtx.range_pop())
""", "all\n iteration\ninquest:step:0\n all\n  iteration\n   inquest:backward\n",
         textwrap.indent(adamw, "  "), values.replace(" *", "   *"),
         "inquest:step:1\n all\n  iteration\n2\n  iteration\n   inquest:backward\n",
         textwrap.indent(adamw, "  "), values.replace(" *", "   *"),
         "inquest:step:2\n all\n  iteration\n2\n-1\n")
    expect(tap, "a forward pass that failed is closed", f"""
root._pre_forward(model, (batch(),), {{}})
root._state_ctx.iter_forward_root = None
root._pre_forward(model, (batch(),), {{}})
root._post_forward(model, (), 0)
{empty}
""", step(0, "inquest:forward\n FSDP::root_pre_forward\n FSDP::pre_forward\n"
          "inquest:forward\n FSDP::root_pre_forward\n FSDP::pre_forward\n FSDP::post_forward\n"
          "inquest:backward\n"))
    expect(tap, "windows: nothing but steps outside", f"{empty}opt.step()\n" * 4,
           "inquest:step:0\ninquest:step:1\ninquest:step:2\n", outline, adamw, values,
           "inquest:step:3\n", INQUEST_RECORD_STEPS="2:3", INQUEST_RECORD_NO_FLOPS="1")
    expect(tap, "windows, with an optimizer that steps on another thread", """
import threading
def inside():
    thread = threading.Thread(target=opt.step)
    thread.start()
    thread.join()
for i in range(3):
    torch.state.tape.append(inside)
    batch().backward()
""", "inquest:step:0\ninquest:step:1\ninquest:step:2\n inquest:backward\n" + OPTIMIZER + values,
           INQUEST_RECORD_STEPS="2:3", INQUEST_RECORD_NO_FLOPS="1")


def record_functions(tap):
    """What a program may do with torch's record_function, beside `with`."""
    for shape in ("new", "old"):
        expect(tap, f"left with the names of torch's arguments, the {shape} torch", """
batch().backward()
record = torch.autograd.profiler.record_function("mine").__enter__()
record.__exit__(exc_type=None, exc_value=None, traceback=None)
batch().backward()
""", step(0, "inquest:backward\nmine\ninquest:backward\n"), STANDIN_TORCH=shape)
    expect(tap, "one object entered again closes both levels", """
record = torch.autograd.profiler.record_function("twice")
batch().backward()
with record:
    with record:
        batch().backward()
    batch().backward()
batch().backward()
""", step(0, "inquest:backward\ntwice\n twice\n  inquest:backward\n inquest:backward\n"
          "inquest:backward\n"))
    expect(tap, "one object on two threads closes its own on each", """
import threading
record = torch.autograd.profiler.record_function("shared")
inside, done = threading.Event(), threading.Event()
def other():
    with record:
        inside.set()
        done.wait()
batch().backward()
torch.cuda.nvtx.range_push("mine")
thread = threading.Thread(target=other)
with record:
    thread.start()
    inside.wait()
batch().backward()
done.set()
thread.join()
record.__exit__(None, None, None)
batch().backward()
""", "inquest:step:0\n inquest:backward\n mine\n  shared\nshared\n"
     "  inquest:backward\n  inquest:backward\n")
    values = textwrap.indent(VALUES[:VALUES.index("* inquest:value:tokens")].format(0, 0), "  ")
    adamw = textwrap.indent(OPTIMIZER, "  ")
    expect(tap, "what nobody will leave ends with the step, what is around it stays", """
record = torch.autograd.profiler.record_function
elsewhere = record("elsewhere")
batch().backward()
with record("around"):
    for i in range(3):
        record("dropped").__enter__()
        elsewhere.__enter__()
        opt.step()
batch().backward()
""", "inquest:step:0\n inquest:backward\n around\n  dropped\n   elsewhere\n",
         textwrap.indent(adamw, "  "), textwrap.indent(values, "  "),
         *(f"inquest:step:{i}\n around\n  elsewhere\n   dropped\n    elsewhere\n"
           + textwrap.indent(adamw + values, "   ") for i in (1, 2)),
         "inquest:step:3\n around\n  elsewhere\n inquest:backward\n")
    expect(tap, "a thread whose ranges are never left", """
import threading
def other():
    for i in range(2000):
        torch.autograd.profiler.record_function("x").__enter__()
batch().backward()
thread = threading.Thread(target=other)
thread.start()
thread.join()
""", step(0, "inquest:backward\n") + "".join(" " * i + "x\n" for i in range(1000)))


def fsdp1(tap):
    expect(tap, "FSDP1: the outermost forward", """
class Unit:
    def __init__(self, inner=None):
        self.inner = inner
    def named_modules(self):
        return [("_fsdp_wrapped_module.layers.0._fsdp_wrapped_module", block)]
    def forward(self, *args, **kwargs):
        with torch.autograd.profiler.record_function("FullyShardedDataParallel.forward"):
            if self.inner:
                self.inner.forward(1.0)
            else:
                c.checkpoint(block, 1)
model = Unit(Unit())
for i in range(2):
    model.forward(batch())
    batch().backward()
    opt.step()
""", *(step(i, "inquest:forward\n FullyShardedDataParallel.forward\n"
            "  FullyShardedDataParallel.forward\n", f"   inquest:checkpoint:{i + 1}:layers.0\n",
            BACKWARD.format(i + 1), OPTIMIZER, VALUES.format(16, 0)) for i in range(2)))


def guest(tap):
    """What the hook must not do."""
    printed, told = run("print('alone')", path=())
    tap.check("without torch it says nothing", (printed, told) == ("alone\n", ""), printed, told)
    printed, told = run("try:\n    import torch\nexcept ModuleNotFoundError as error:\n"
                        "    print(error.name)", path=())
    tap.check("a torch that is not there is not there", printed in ("torch\n", "") and not told,
              printed, told)
    printed, told = run("import torch\nprint(torch.autograd.backward.__name__)\n"
                        "torch.Tensor(1).backward()", INQUEST_RECORD_PARENT="")
    tap.check("outside a recording it is not there", (printed, told) == ("backward\n", ""),
              printed, told)
    printed, told = run(MODEL.format(place=NEW) + "import importlib.util\n"
                        "print(importlib.util.find_spec('torch').loader.__class__.__name__,"
                        "torch.__loader__ is torch.__spec__.loader,"
                        "type(torch.__loader__).exec_module.__module__)")
    tap.check("the module is as its loader left it",
              printed == "SourceFileLoader True _frozen_importlib_external\n", printed, told)
    printed, told = run("import importlib.util\nimportlib.util.find_spec('torch')\nimport torch\n"
                        "torch.Tensor(1).backward()")
    tap.check("asking for torch before importing it does not lose it",
              printed == "inquest:step:0\n inquest:backward\n", printed, told)
    broken = MODEL.format(place=NEW) + """
import inquest_hook
def fail(*args):
    raise ValueError("made to fail")
inquest_hook._session.ranges.PART = fail
forward(batch())
batch().backward()
opt.step()
print("trained")
"""
    for part in ("_push", "_pop", "mark", "local"):
        printed, told = run(broken.replace("PART", part))
        tap.check(f"a failure of {part} leaves the training alone",
                  printed.endswith("trained\n") and "Traceback" not in told, printed, told)
    printed, told = run("import torch, os, sys\ntorch.Tensor(1).backward()\nsys.stdout.flush()\n"
                        "if os.fork() == 0:\n    torch.Tensor(1).backward()\n"
                        "    sys.stdout.flush()\n    os._exit(0)\nos.wait()")
    tap.check("a forked worker marks nothing", printed == "inquest:step:0\n inquest:backward\n",
              printed, told)


def cost(tap):
    """On the stand-in, so without NVTX's own share."""
    printed, _ = run("""
import sys, time
import torch
import inquest_hook
def quiet(*_):
    return 0
session = inquest_hook._session
session.ranges._push = session.ranges._pop = session.ranges.mark = quiet
torch.Tensor(1).backward()
rf, n = torch.autograd.profiler.record_function, 200000
start = time.perf_counter()
for i in range(n):
    with rf("x"):
        pass
print((time.perf_counter() - start) / n * 1e6)
""")
    cost = float(printed.split()[-1])
    # Far above a loaded machine's: only work of another kind in there fails.
    tap.check(f"a range costs {cost:.2f} us of Python, 20 at most", 0 < cost < 20)


def real_torch(tap):
    """The same on torch itself, in a process of its own."""
    printed, told = run((HERE / "hook_torch.py").read_text(), path=())
    lines = printed.splitlines()
    if "no torch" in lines:
        tap.check("torch itself", True, skip="no torch")
        return
    for line in lines:
        if line.startswith(("ok ", "not ok ")):
            tap.check("torch itself: " + line.split(" ", 1)[1].removeprefix("ok "),
                      line.startswith("ok "), *told.splitlines()[-20:])
    tap.check("torch itself: to the end", lines[-1:] == ["done"], *told.splitlines()[-20:])
    alone, _ = run((HERE / "hook_torch.py").read_text(), path=(), INQUEST_RECORD_PARENT="")
    tap.check("torch itself: the losses are the same to the last bit",
              lines[-2:] == alone.splitlines()[-2:], *lines[-2:], *alone.splitlines()[-2:])


def main():
    tap = Tap()
    for part in (phases, regions, steps, record_functions, fsdp1, guest, cost, real_torch):
        part(tap)
    return tap.end()


if __name__ == "__main__":
    raise SystemExit(main())
