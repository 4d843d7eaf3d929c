#!/usr/bin/env python3
"""Speed and memory of reading, printed and not judged: bench.py BENCH_READ SMALL_TRACE [MEGABYTES]

Three sizes show whether time grows with the file alone.  At the smallest, reading takes turns with
Python's json.load on the same bytes.  Medians of all rounds; the spread is from least to most.
"""
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 5
LOAD = '''import json, sys, time
start = time.monotonic()
json.load(open(sys.argv[1], encoding="utf-8"))
import resource
usage = resource.getrusage(resource.RUSAGE_SELF)
print(time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
'''


def measure(command):
    seconds, cpu, peak = subprocess.run(
        command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(cpu), int(peak)


def report(what, megabytes, rounds):
    rates = [megabytes / seconds for seconds, _, _ in rounds]
    cpu = statistics.median(megabytes / cpu for _, cpu, _ in rounds)
    peak = max(peak for _, _, peak in rounds) * 1024 / 1e6
    print(f'  {what:24} {statistics.median(rates):8.0f} MB/s  ({min(rates):.0f} to '
          f'{max(rates):.0f})  {cpu:6.0f} MB/s a core  peak {peak:7.1f} MB = '
          f'{peak / megabytes:.3f} of the JSON', flush=True)


def main():
    bench, source = sys.argv[1], sys.argv[2]
    largest = float(sys.argv[3]) if len(sys.argv) > 3 else 480
    if not os.path.exists(source):
        print('no trace to make big ones from: set INQUEST_SHARED')
        return
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in (largest / 16, largest / 4, largest):
            path = os.path.join(folder, 'big.json')
            subprocess.run([sys.executable, os.path.join(HERE, 'make_big.py'), source, path,
                            str(megabytes)], check=True)
            subprocess.run(['gzip', '-1kf', path], check=True)
            subprocess.run(['zstd', '-3qf', path], check=True)
            size = os.path.getsize(path) / 1e6
            print(f'{size:.0f} MB of JSON, gzip {os.path.getsize(path + ".gz") / 1e6:.0f} MB, '
                  f'zstd {os.path.getsize(path + ".zst") / 1e6:.0f} MB')
            measure([bench, 'bytes', path])  # into the page cache
            for stage in ('bytes', 'skip', 'walk', 'columns'):
                for ending in ('', '.gz', '.zst'):
                    if ending and stage in ('skip', 'walk'):
                        continue
                    report(stage + ' ' + (ending or 'plain'), size,
                           [measure([bench, stage, path + ending]) for _ in range(ROUNDS)])
            if megabytes == largest / 16:
                ours, theirs = [], []
                for _ in range(ROUNDS):
                    ours.append(measure([bench, 'columns', path]))
                    theirs.append(measure([sys.executable, '-c', LOAD, path]))
                report('in turns: columns', size, ours)
                report('in turns: json.load', size, theirs)
                ratios = [b[0] / a[0] for a, b in zip(ours, theirs)]
                print(f'  columns are {statistics.median(ratios):.1f} times as fast '
                      f'({min(ratios):.1f} to {max(ratios):.1f})')


if __name__ == '__main__':
    main()
