#!/usr/bin/env python3
"""What recording costs, measured inside one process: windows of steps with and without it, in turn.

    overhead.py steps CONFIG            prints the windows for `inquest record --steps`
    torchrun ... overhead.py run LAB CONFIG [torch]

LAB is the workload (fsdp_lab.py), CONFIG a file of one JSON line as the workload takes them, with
`win` steps a window and `pairs` of windows.  Odd windows are recorded: by the collector, which is told
so by `--steps`, or with `torch` by torch.profiler.  Each recorded window is compared with the mean of
the two beside it.  One step before each window is not timed: there the recording goes on or off.
"""
import json
import os
import statistics
import sys
import time

WARM_UP = 8


def read_config(path):
    with open(path, encoding='utf-8') as file:
        config = json.loads(file.readline())
    config.setdefault('win', 6)
    config.setdefault('pairs', 5)
    return config


def print_steps(config):
    length = config['win'] + 1
    first = WARM_UP + length
    print(','.join(f'{first + 2 * pair * length}:{first + 2 * pair * length + length}'
                   for pair in range(config['pairs'])))


def load_lab(path):
    """The workload's functions, without its last line, which runs it."""
    with open(path, encoding='utf-8') as file:
        source = file.read().rstrip()
    assert source.endswith('main()')
    lab = {'__name__': 'lab'}
    exec(compile(source[:-len('main()')], path, 'exec'), lab)
    return lab


def main():
    if sys.argv[1] == 'steps':
        print_steps(read_config(sys.argv[2]))
        return
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    lab, config = load_lab(sys.argv[2]), read_config(sys.argv[3])
    by_torch = sys.argv[4:] == ['torch']
    rank, local = int(os.environ['RANK']), int(os.environ['LOCAL_RANK'])
    torch.cuda.set_device(local)
    device = torch.device('cuda', local)
    dist.init_process_group('nccl', device_id=device)
    c = {**lab['DEF'], **config}
    model = lab['build'](c, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    generator = torch.Generator(device='cpu').manual_seed(rank)
    data = [torch.randint(0, c['vocab'], (c['mb'], c['seq'] + 1), generator=generator).to(device)
            for _ in range(4)]

    def step(number):
        for micro_batch in range(c['accum']):
            x = data[(number + micro_batch) % 4]
            logits = model(x[:, :-1])
            F.cross_entropy(logits.flatten(0, 1).float(), x[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()

    def window(first):
        step(first)
        torch.cuda.synchronize()
        dist.barrier()
        start = time.perf_counter()
        for number in range(first + 1, first + 1 + c['win']):
            step(number)
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / c['win']

    for number in range(WARM_UP):
        step(number)
    times = []
    for index in range(2 * c['pairs'] + 1):
        first = WARM_UP + index * (c['win'] + 1)
        if by_torch and index % 2:
            activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
            with torch.profiler.profile(activities=activities):
                times.append(window(first))
        else:
            times.append(window(first))
    ratios = [times[i] / ((times[i - 1] + times[i + 1]) / 2) for i in range(1, len(times), 2)]
    if rank == 0:
        print(f'overhead {c["name"]} {"torch.profiler" if by_torch else "inquest"}: '
              f'recorded over unrecorded, median {statistics.median(ratios):.4f}, '
              f'{min(ratios):.4f} to {max(ratios):.4f}, {len(ratios)} pairs of {c["win"]} steps of '
              f'{statistics.median(times[0::2]) * 1e3:.2f} ms', flush=True)
    dist.barrier()
    dist.destroy_process_group()


main()
