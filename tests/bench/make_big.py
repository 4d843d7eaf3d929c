#!/usr/bin/env python3
"""Makes a big trace from a small one: make_big.py SMALL.json[.gz|.zst] OUT.json MEGABYTES

The events are repeated as if training had gone on: each copy has fresh correlation ids, external
ids, flow ids and sequence numbers, times that follow the copy before, and further ProfilerSteps.
"""
import re
import subprocess
import sys

NUMBERS = re.compile(
    r'("ts": |"correlation": |"External id": |"id": |"Ev Idx": |"Sequence number": '
    r'|"wait_on_cuda_event_record_corr_id": |"name": "ProfilerStep#)(\d+(?:\.\d{3})?)')
START = '"traceEvents": ['


def read(path):
    reader = {'.gz': ['gzip', '-dc'], '.zst': ['zstd', '-dcq']}
    for ending, command in reader.items():
        if path.endswith(ending):
            return subprocess.run(command + [path], check=True, capture_output=True).stdout.decode()
    with open(path, encoding='utf-8') as file:
        return file.read()


def to_ns(text):
    whole, _, fraction = text.partition('.')
    return int(whole) * 1000 + int((fraction + '000')[:3])


def main():
    source, target, megabytes = sys.argv[1], sys.argv[2], float(sys.argv[3])
    text = read(source)
    begin = text.index(START) + len(START)
    end = text.rindex(']', 0, text.rindex('}'))
    while text[end - 1] in ' \n':
        end -= 1
    # re.split gives: text, key, number, text, key, number, ..., text
    parts = NUMBERS.split(text[begin:end])
    values = []
    least, most = {}, {}
    for at in range(1, len(parts), 3):
        key, number = parts[at], parts[at + 1]
        value = to_ns(number) if key == '"ts": ' else int(number.split('.')[0])
        values.append(value)
        least[key] = min(value, least.get(key, value))
        most[key] = max(value, most.get(key, value))
    # Correlation ids, and flows named after them, must go on together.
    step = {key: most[key] - least[key] + 1 for key in least}
    joined = [key for key in step if 'orrelation' in key or key == '"id": ' or 'corr_id' in key]
    for key in joined:
        step[key] = max(most[key] for key in joined) + 1
    if '"ts": ' in step:
        step['"ts": '] += 20_000_000  # the longest event outlives the last start

    with open(target, 'w', encoding='utf-8') as out:
        out.write(text[:begin])
        copy = 0
        while copy == 0 or out.tell() < megabytes * 1e6:
            if copy:
                out.write(',')
            pieces = [parts[0]]
            for index, value in enumerate(values):
                key = parts[3 * index + 1]
                value += copy * step[key]
                pieces.append(key)
                pieces.append(f'{value // 1000}.{value % 1000:03}' if key == '"ts": '
                              else str(value))
                pieces.append(parts[3 * index + 3])
            out.write(''.join(pieces))
            copy += 1
        out.write(text[end:])


if __name__ == '__main__':
    main()
