#!/usr/bin/env python3
"""Speed and memory from file to partition, printed and not judged: bench.py BENCH_READ SOURCE_ROOT

Traces of three sizes, the largest 1 GB, made from a recorded one in $INQUEST_SHARED or ../shared;
equal rates and shares show that time and memory grow with the file alone.  Each figure is a process
of its own with a peak of its own.  Python's json.load takes turns with ours on the same bytes, and
a ratio is of one such pair.  Medians; in brackets the least and the most.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = 'f2_none_accum2.rank%d.json.zst'
SIZES = (62, 250, 1000)
ROUNDS = 5
LOAD = '''import json, resource, sys, time
start = time.monotonic()
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        json.load(file)
seconds = time.monotonic() - start
usage = resource.getrusage(resource.RUSAGE_SELF)
print(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
'''


def measure(command):
    """(seconds, seconds of processor time, peak in bytes)"""
    seconds, cpu, peak = subprocess.run(
        command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(cpu), int(peak) * 1024


def spread(values, digits=0):
    return (f'{statistics.median(values):7.{digits}f} ({min(values):.{digits}f} to '
            f'{max(values):.{digits}f})')


def report(what, megabytes, rounds):
    rates = [megabytes / seconds for seconds, _, _ in rounds]
    cpu = statistics.median(megabytes / cpu for _, cpu, _ in rounds)
    peak = max(peak for _, _, peak in rounds) / 1e6
    print(f'  {what:30} {spread(rates):22} MB/s, {cpu:5.0f} MB/s a core, '
          f'{statistics.median(r[0] for r in rounds):6.3f} s, peak {peak:6.1f} MB '
          f'= {peak / megabytes:.3f} of the JSON', flush=True)


def in_pairs(what, megabytes, ours, theirs):
    """Alternates, so that what else the machine does meets both."""
    rounds = [(measure(ours), measure(theirs)) for _ in range(ROUNDS)]
    report(what, megabytes, [pair[0] for pair in rounds])
    report('  Python json.load', megabytes, [pair[1] for pair in rounds])
    print(f'    times Python: {spread([b[0] / a[0] for a, b in rounds], 1)} by the clock, '
          f'{spread([b[1] / a[1] for a, b in rounds], 1)} a core', flush=True)


def make(folder, name, source, megabytes):
    path = os.path.join(folder, name)
    subprocess.run([sys.executable, os.path.join(HERE, 'make_big.py'), source, path,
                    str(megabytes)], check=True)
    return path, os.path.getsize(path) / 1e6


def bench_run(bench, load, folder, sources):
    """Both ranks at once, as a run is read."""
    made = [make(folder, f'pair.rank{rank}.json', source, SIZES[0])
            for rank, source in enumerate(sources)]
    size = sum(megabytes for _, megabytes in made)
    print(f'a run of two ranks, {size:.0f} MB of JSON')
    in_pairs('run to partition', size,
             [bench, 'partition', os.path.join(folder, 'pair.rank*.json'), '0'],
             load + [path for path, _ in made])
    for path, _ in made:
        os.remove(path)


def bench_file(bench, load, folder, source, megabytes):
    path, size = make(folder, 'one.rank0.json', source, megabytes)
    subprocess.run(['gzip', '-1kf', path], check=True)
    subprocess.run(['zstd', '-3qf', path], check=True)
    print(f'one file, {size:.0f} MB of JSON, .gz {os.path.getsize(path + ".gz") / 1e6:.0f} MB, '
          f'.zst {os.path.getsize(path + ".zst") / 1e6:.0f} MB')
    measure([bench, 'bytes', path, '1'])  # into the page cache
    for threads, words in (('1', 'one thread'), ('0', 'free cores read ahead')):
        for ending in ('', '.gz', '.zst'):
            report(f'{ending or "plain"}, {words}', size,
                   [measure([bench, 'partition', path + ending, threads])
                    for _ in range(ROUNDS)])
    for stage, words in (('bytes', 'of it the bytes'), ('columns', 'of it to columns')):
        report(f'{words}, one thread', size,
               [measure([bench, stage, path, '1']) for _ in range(ROUNDS)])
    if megabytes < SIZES[-1]:  # of 1 GB Python makes 8 GB of objects
        in_pairs('plain to partition', size, [bench, 'partition', path, '0'], load + [path])
    for ending in ('', '.gz', '.zst'):
        os.remove(path + ending)


def main():
    bench, root = sys.argv[1], sys.argv[2]
    shared = os.environ.get('INQUEST_SHARED') or os.path.join(root, '..', 'shared')
    sources = [os.path.join(shared, 'traces', 'h200', SOURCE % rank) for rank in range(2)]
    if not all(os.path.exists(source) for source in sources):
        print('no trace to make big ones from: set INQUEST_SHARED')
        raise SystemExit(77)  # skipped: nothing was measured
    load = [sys.executable, '-c', LOAD]
    start = time.monotonic()
    print(f'from file to partition, {os.cpu_count()} cores, medians of {ROUNDS}')
    with tempfile.TemporaryDirectory() as folder:
        bench_run(bench, load, folder, sources)
        for megabytes in SIZES:
            bench_file(bench, load, folder, sources[0], megabytes)
    print(f'{time.monotonic() - start:.0f} s in all')


if __name__ == '__main__':
    main()
