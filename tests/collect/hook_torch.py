"""What hook_test.py runs on an installed torch, under the hook and without it: lines of "ok NAME" or
"not ok NAME", then the losses, which must not differ.  On the CPU, one process, gloo.
"""
import os
import sys
import tempfile
import threading

try:
    import torch
except ImportError:
    print("no torch")
    raise SystemExit

import torch.distributed as dist  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (  # noqa: E402
    CheckpointImpl, checkpoint_wrapper)
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

IS_HOOKED = "inquest_hook" in sys.modules
texts = []


def check(name, ok):
    if IS_HOOKED:
        print("ok" if ok else "not ok", name)


def listen():
    import inquest_hook
    ranges = inquest_hook._session.ranges
    ranges._push = ranges.mark = lambda text: texts.append(text) or 0
    ranges._pop = lambda: texts.append("pop") or 0
    return inquest_hook._session


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(16, 16), nn.Linear(16, 16)
        self.func = F.gelu  # named as in a partial, which a module isn't

    def forward(self, x):
        with torch.profiler.record_function("inside"):
            return x + self.b(self.func(self.a(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.head = nn.Embedding(32, 16), nn.Linear(16, 32)
        self.layers = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x):
        x = self.emb(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def build(version, impl, is_outside):
    torch.manual_seed(0)
    cpu = torch.device("cpu")
    mesh = dist.device_mesh.init_device_mesh("cpu", (1,))

    def shard(module):
        if version == 2:
            return fully_shard(module, mesh=mesh)
        return FullyShardedDataParallel(module, device_id=cpu, use_orig_params=True)

    model = Model()
    for i, layer in enumerate(model.layers):
        layer = shard(layer) if is_outside else layer
        layer = checkpoint_wrapper(layer, checkpoint_impl=impl)
        model.layers[i] = layer if is_outside else shard(layer)
    return shard(model)


def train(model, count):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(count):
        logits = model(torch.randint(0, 32, (2, 8)))
        loss = logits.float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def count(prefix):
    return sum(text.startswith(prefix) for text in texts)


def check_run(name, first):
    """`first`: whether the run has the process's first steps, where the FLOPs are counted."""
    steps = 4
    check(f"{name}: steps", count("inquest:step:") in (steps, steps + 1))
    check(f"{name}: passes", count("inquest:forward") == steps == count("inquest:backward"))
    regions = [t.split(":", 2)[2] for t in texts if t.startswith("inquest:checkpoint:")]
    again = [t.split(":", 2)[2] for t in texts if t.startswith("inquest:recompute:")]
    check(f"{name}: every region is recomputed", len(regions) == 2 * steps and
          sorted(regions) == sorted(again))
    check(f"{name}: with its name", {t.split(":")[1] for t in regions} == {"layers.0", "layers.1"})
    check(f"{name}: tokens", count("inquest:value:tokens:16") == steps)
    if first:
        # Of a step: 2 blocks of 2 layers 16x16 and a head 16x32, 16 tokens; early stop leaves out
        # the second layer of each block.
        check(f"{name}: FLOPs forward", count("inquest:value:forward_flop:49152") == steps - 1)
        check(f"{name}: recomputed", count("inquest:value:recompute_flop:16384") == steps - 1)
        check(f"{name}: backward", count("inquest:value:backward_flop:98304") == steps - 1)
        check(f"{name}: in one step", count("inquest:value:flop_counted:1") == 1)
    texts.clear()


def check_compile():
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return checkpoint(self.block, x, use_reentrant=False)

    model = Checkpointed()
    torch.compile(model, backend=backend, fullgraph=True)(torch.ones(2, 16)).sum().backward()
    check("compile: a checkpoint inside breaks no graph", len(graphs) == 1)
    compiled = torch.compile(Block(), backend=backend)
    texts.clear()
    x = torch.ones(2, 16, requires_grad=True)
    checkpoint(compiled, x, use_reentrant=False).sum().backward()
    check("compile: a checkpoint outside is marked", count("inquest:checkpoint:") == 1 ==
          count("inquest:recompute:"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(backend=backend)
    def step():
        optimizer.step()

    step()
    check("compile: an optimizer's step", True)

    @torch.jit.script
    def scripted(x: torch.Tensor):
        with torch.autograd.profiler.record_function("scripted"):
            return x + 1

    check("TorchScript takes record_function", scripted(torch.ones(1)).item() == 2)


def check_profiler():
    from torch.profiler import ProfilerActivity, profile, schedule
    model = Block()
    optimizer = torch.optim.AdamW(model.parameters())
    texts.clear()
    with profile(activities=[ProfilerActivity.CPU],
                 schedule=schedule(wait=0, warmup=1, active=2)) as profiler:
        for _ in range(3):
            model(torch.ones(2, 16)).sum().backward()
            optimizer.step()
            profiler.step()
    check("torch.profiler beside it", count("ProfilerStep#") >= 3)
    depth = 0
    for text in texts:
        depth += -1 if text == "pop" else not text.startswith("inquest:value")
    check("and what was opened is closed, but the step", depth == 0)


def check_decorator():
    """torch's decorator enters one object again, on every thread that calls the function."""
    @torch.profiler.record_function("recursive")
    def recursive(depth):
        return depth and recursive(depth - 1)

    texts.clear()
    recursive(2)
    check("a recursive decorated function", texts == ["recursive"] * 3 + ["pop"] * 3)
    with torch.profiler.record_function("outer"):
        thread = threading.Thread(target=recursive, args=(1,))
        thread.start()
        thread.join()
        recursive(1)
    check("and on another thread", texts.count("pop") == 8 and len(texts) == 16)
    record = torch.profiler.record_function("named").__enter__()
    record.__exit__(exc_type=None, exc_value=None, traceback=None)
    check("left with the names of torch's arguments", texts[-2:] == ["named", "pop"])


def main():
    session = listen() if IS_HOOKED else None
    folder = tempfile.mkdtemp()
    dist.init_process_group("gloo", init_method="file://" + os.path.join(folder, "store"),
                            rank=0, world_size=1)
    losses = []
    is_first = True
    for version in (2, 1):
        for impl in (CheckpointImpl.NO_REENTRANT, CheckpointImpl.REENTRANT):
            for is_outside in (False, True):
                model = build(version, impl, is_outside)
                losses += train(model, 4)
                del model
                check_run(f"FSDP{version} {impl.name} {'out' if is_outside else 'in'}side", is_first)
                is_first = False
    check_compile()
    check_profiler()
    check_decorator()
    dist.destroy_process_group()
    check("nothing turned it off", session is None or not session.is_dead)
    print("losses", *losses)
    print("done")


main()
