"""The parts of a window, ours and the independent reading's, under the same keys.

A key is state/detail.  Where the reading knows less than we do, ours is folded: its gathers say
forward or backward only, its other collectives say no context.
"""

import re

KINDS = {"AllGather": "all_gather", "ReduceScatter": "reduce_scatter", "AllReduce": "all_reduce",
         "SendRecv": "send_recv", "Broadcast": "broadcast"}
PHASES = {"fsdp-copy": "fsdp"}


def ours(parts):
    """{key: ns} of a list of JSON parts."""
    total = {}
    for part in parts:
        key = key_of(part)
        total[key] = total.get(key, 0) + part["ns"]
    return total


def key_of(part):
    state = part["state"]
    if state == "busy":
        return f"busy/{part['phase']}"
    if state == "blocked":
        if part["on"] == "all_gather":
            return f"blocked/all_gather:{gather_reason(part['reason'])}"
        return f"blocked/{part['on']}"
    if part["reason"] == "dispatch":
        return f"starved/{part['phase']}"
    return f"starved:{part['reason']}"


def gather_reason(word):
    return "backward" if word in ("repeat", "recompute") else word


def theirs(parts, unit_ns):
    """{key: ns} of the reading's {key: number}."""
    total = {}
    for key, value in parts.items():
        state, detail = key.split("/")
        if state == "none":
            continue
        detail, _, context = detail.partition(":")
        if state == "blocked" and detail in KINDS:
            key = f"blocked/{KINDS[detail]}"
            if detail == "AllGather":
                key += f":{gather_reason(context)}"
        elif state == "starved" and context:
            key = f"starved:{context}"
        else:
            key = f"{state}/{PHASES.get(detail, detail)}"
        total[key] = total.get(key, 0) + value * unit_ns
    return total


def folded(total, rename):
    """The same with the keys that `rename` makes alike put together."""
    fewer = {}
    for key, value in total.items():
        fewer[rename(key)] = fewer.get(rename(key), 0) + value
    return fewer


def starved_as_a_whole(key):
    return "starved" if key.startswith("starved") else key


def told_backward(key):
    return re.sub(r"/(recompute|unknown)$", "/backward", key)


def mean(totals):
    keys = {key for total in totals for key in total}
    return {key: sum(total.get(key, 0) for total in totals) / len(totals) for key in keys}


def farthest(one, other):
    """(key, one's ns, other's ns) where the two differ most."""
    keys = sorted(set(one) | set(other))
    return max(((key, one.get(key, 0), other.get(key, 0)) for key in keys),
               key=lambda row: abs(row[1] - row[2]))
