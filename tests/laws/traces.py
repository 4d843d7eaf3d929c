"""Trace files as text: read, changed without touching a digit that need not change, written."""

import gzip
import json
import random
import re
import subprocess


def read(path):
    """The JSON text of a trace, whatever it is compressed with."""
    if str(path).endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", str(path)], capture_output=True,
                              check=True).stdout.decode()
    if str(path).endswith(".gz"):
        return gzip.decompress(path.read_bytes()).decode()
    return path.read_text()


def write(path, text):
    data = text.encode()
    if str(path).endswith(".zst"):
        subprocess.run(["zstd", "-1q", "-o", str(path)], input=data, check=True)
    elif str(path).endswith(".gz"):
        path.write_bytes(gzip.compress(data, 1))
    else:
        path.write_bytes(data)


class Events:
    """A trace cut into the text before its events, each event's own text, and the text behind."""

    def __init__(self, text):
        start = text.index("[", text.index('"traceEvents"')) + 1
        decoder = json.JSONDecoder()
        self.head = text[:start]
        self.items = []
        self.ends = []  # where each event ends in the text
        at = start
        while True:
            while text[at] in " \r\n\t,":
                at += 1
            if text[at] == "]":
                break
            _, end = decoder.raw_decode(text, at)
            self.items.append(text[at:end])
            self.ends.append(end)
            at = end
        self.tail = text[at:]

    def text(self):
        return self.head + "\n" + ",\n".join(self.items) + "\n" + self.tail


def shuffled(text, seed):
    events = Events(text)
    random.Random(seed).shuffle(events.items)
    return events.text()


def shifted(text, microseconds):
    """Every event's time moved by whole microseconds; the digits behind the point stay."""
    return re.sub(r'("ts": ?)(\d+)',
                  lambda m: m.group(1) + str(int(m.group(2)) + microseconds), text)


def overlapping(text):
    """The second collective kernel of the trace is moved onto the first."""
    events = Events(text)
    found = []
    for index, item in enumerate(events.items):
        if '"cat": "kernel"' in item and "ncclDevKernel" in item:
            event = json.loads(item)
            found.append((event["ts"], event["dur"], index))
    found.sort()
    (first_ts, first_dur, _), (_, _, second) = found[0], found[1]
    middle = f"{first_ts + first_dur / 2:.3f}"
    events.items[second] = re.sub(r'("ts": ?)[\d.]+', rf"\g<1>{middle}", events.items[second])
    return events.text()
