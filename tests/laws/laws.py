"""The laws: what inquest must say about real traces, against what was measured and derived apart.

Prints TAP, a line a check.  Reads the command's JSON as any other client would.
The shared traces are looked for in $INQUEST_SHARED/traces/h200, else in ../shared beside the
sources; without them the laws are proven on samples/ alone and the rest is skipped.
"""

import argparse
import functools
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]
import parts  # noqa: E402
import tables  # noqa: E402
import traces  # noqa: E402
from tap import Tap  # noqa: E402
from tool import Failure, Tool, expect, near, within  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

MS = 1e6


class Bench:
    """What every law needs: the tool, the traces, and where results go."""

    def __init__(self, tool, shared, only):
        self.tool = tool
        self.tap = Tap()
        self.only = only
        self.shared = shared if (shared / "truth.jsonl").exists() else None
        self.names = tables.EVERY if self.shared else tables.SAMPLES
        self.truth = self.lines("truth.jsonl", "name")
        self.reference = self.lines("reference.jsonl", "file")
        self.reference_path = self.lines("reference_path.jsonl", "name")

    def lines(self, file, key):
        if not self.shared:
            return {}
        with open(self.shared / file, encoding="utf-8") as lines:
            return {row[key]: row for row in map(json.loads, lines)}

    def folder(self, name):
        return self.shared or ROOT / "samples"

    def run(self, name):
        """The RUN argument of a recorded run."""
        return str(self.folder(name) / f"{name}.rank*.json.zst")

    def file(self, name, rank):
        return self.folder(name) / f"{name}.rank{rank}.json.zst"

    def have(self, *names):
        return all(name in self.names for name in names)

    def check(self, name, law, *arguments):
        """Runs `law`; whatever it raises is the failure."""
        if self.only and not re.search(self.only, name):
            return
        try:
            law(*arguments)
        except Failure as failure:
            self.tap.check(f"{name}: {failure}", False)
        except (KeyError, TypeError, IndexError, ValueError) as failure:
            self.tap.check(f"{name}: the answer has another shape: {failure!r}", False)
        else:
            self.tap.check(name, True)

    def skip(self, name, why):
        if not self.only or re.search(self.only, name):
            self.tap.check(name, True, skip=why)


# Sums.

def sums(bench, name):
    run = bench.tool.breakdown(bench.run(name))
    count = 0
    for rank in run["ranks"]:
        for step in rank["steps"]:
            total = sum(part["ns"] for part in step["parts"])
            expect(total == step["wall_ns"], f"rank {rank['rank']} {step['name']}: parts sum to "
                   f"{total} ns, the window is {step['wall_ns']} ns")
            expect(all(part["ns"] > 0 for part in step["parts"]), "a part is not positive")
            count += 1
    for step in run["path"]["steps"]:
        total = sum(part["ns"] for part in step["parts"])
        expect(total == step["wall_ns"], f"path {step['name']}: parts sum to {total} ns, the step "
               f"is {step['wall_ns']} ns")
        count += 1
    expect(count >= 3, f"only {count} windows and steps to sum")


# The independent reading.

def partition(bench, name, rank):
    reading = bench.reference[f"{name}.rank{rank}.json"]
    run = bench.tool.breakdown(bench.run(name))
    mine = {r["rank"]: r for r in run["ranks"]}[rank]
    expect(len(mine["steps"]) == len(reading["steps"]),
           f"{len(mine['steps'])} windows, expected {len(reading['steps'])}")
    for step, other in zip(mine["steps"], reading["steps"]):
        expect(step["name"] == other["step"], f"step {step['name']}, expected {other['step']}")
        expect(step["closed"] == other["closed"], f"{step['name']}: closed is {step['closed']}")
        wall = other["wall_us"] * 1000
        limit = tables.PARTITION_TOLERANCE * wall
        near(f"{step['name']} wall", step["wall_ns"] / MS, wall / MS, limit / MS, "ms")
        one, two = parts.ours(step["parts"]), parts.theirs(other["part"], 1000)
        if name in tables.STARVED_AS_A_WHOLE:
            one, two = parts.whole_starved(one), parts.whole_starved(two)
        apart(step["name"], one, two, wall, limit)


def apart(where, one, two, wall, limit):
    key, ours, theirs = parts.farthest(one, two)
    expect(abs(ours - theirs) <= limit,
           f"{where} {key} is {ours / MS:.2f} ms, expected {theirs / MS:.2f}: "
           f"{100 * abs(ours - theirs) / wall:.1f} % of {wall / MS:.1f} ms apart")


def path_mean(run):
    steps = run["path"]["steps"]
    wall = sum(step["wall_ns"] for step in steps) / len(steps)
    return wall, parts.mean([parts.ours(step["parts"]) for step in steps])


def path_reference(bench, name):
    reading = bench.reference_path[name]
    wall, mine = path_mean(bench.tool.breakdown(bench.run(name)))
    limit = tables.PATH_TOLERANCE * wall
    near("the step", wall / MS, reading["step_ms"], limit / MS, "ms")
    apart("path", mine, parts.theirs(reading["part_ms"], MS), wall, limit)


def path_start(bench, name):
    wall, zero = path_mean(bench.tool.breakdown(bench.run(name), "--path-from", "0"))
    other_wall, one = path_mean(bench.tool.breakdown(bench.run(name), "--path-from", "1"))
    limit = tables.PATH_TOLERANCE * wall
    near("the step from rank 1", other_wall / MS, wall / MS, limit / MS, "ms")
    apart("path from rank 0", zero, one, wall, limit)


def small_forward(bench, name):
    _, mine = path_mean(bench.tool.breakdown(bench.run(name)))
    batches = bench.truth[name]["config"]["accum"]
    within("forward on the path a micro-batch", mine["busy/forward"] / batches / MS,
           *tables.SMALL_FORWARD_MS, "ms")


def eager_small(bench):
    for name, row in bench.truth.items():
        config = row["config"]
        if name.startswith(("f1_", "f2_")) and config["mb"] == 2 and not config["compile"]:
            yield name


# Collectives.

def diagnostics(answer):
    return {row["kind"]: row["count"] for row in answer["diagnostics"]}


def no_overlap(bench, name):
    found = diagnostics(bench.tool.json("breakdown", bench.run(name)))
    expect("collective_overlap" not in found,
           f"{found.get('collective_overlap')} collectives overlap")
    expect("unmatched_collective" not in found, "the ranks disagree on their collectives")


def overlap_seen(bench, folder):
    for rank in (0, 1):
        text = traces.read(bench.file("big_none", rank))
        traces.write(folder / f"lapped.rank{rank}.json", traces.overlapping(text))
    found = diagnostics(bench.tool.json("breakdown", str(folder / "lapped.*")))
    expect(found.get("collective_overlap", 0) > 0,
           "a collective was moved onto another, and no collective_overlap was counted")


# The pair.

def verdict_of(bench, names, *options):
    return bench.tool.json("verdict", *map(bench.run, names), *options)


def causes_of(answer):
    return {row["cause"]: row["ns"] for row in answer["causes"]}


def causes_sum(bench, names):
    answer = verdict_of(bench, names)
    expect([row["cause"] for row in answer["causes"]] == tables.CAUSES,
           f"causes are {[row['cause'] for row in answer['causes']]}")
    total = sum(row["ns"] for row in answer["causes"])
    expect(total == answer["delta_ns"]["mean"],
           f"causes sum to {total} ns, the difference is {answer['delta_ns']['mean']} ns")


def pair_delta(bench, pair, names):
    within("the difference", verdict_of(bench, names)["delta_ns"]["mean"] / MS, *pair["delta"],
           "ms")


def pair_cause(bench, names, cause, low, high):
    within(cause, causes_of(verdict_of(bench, names))[cause] / MS, low, high, "ms")


def pair_share(bench, names, headline, low, high):
    answer = verdict_of(bench, names)
    part = sum(row["ns"] for row in answer["causes"] if row["headline"] == headline)
    within(f"{headline} over the difference", part / answer["delta_ns"]["mean"], low, high)


def pair_path(bench, name, key, low, high):
    _, mine = path_mean(bench.tool.breakdown(bench.run(name)))
    within(f"{key} on the path", mine.get(key, 0) / MS, low, high, "ms")


def pair_larger(bench, names, larger, smaller):
    causes = causes_of(verdict_of(bench, names))
    expect(causes[larger] > causes[smaller] > 0,
           f"{larger} is {causes[larger] / MS:.2f} ms, {smaller} {causes[smaller] / MS:.2f} ms")


def pair_blamed(bench, names, blamed):
    causes = causes_of(verdict_of(bench, names))
    most = max(causes, key=causes.get)
    expect(most == blamed, f"most is blamed on {most} ({causes[most] / MS:.2f} ms), not on {blamed} "
           f"({causes[blamed] / MS:.2f} ms)")


def pair_gathers(bench, name, reason, count):
    for rank in bench.tool.json("gathers", bench.run(name))["runs"][0]["ranks"]:
        seen = sum(row["count"] for row in rank["gathers"] if row["reason"] == reason)
        expect(seen == count * rank["steps_used"],
               f"rank {rank['rank']} has {seen} {reason} gathers in {rank['steps_used']} steps, "
               f"expected {count} a step")


def pair_retries(bench, name, key, count):
    for rank in bench.tool.breakdown(bench.run(name))["ranks"]:
        seen = rank["memory"][key]
        expect(seen == count * rank["steps_used"],
               f"rank {rank['rank']} has {seen} {key} in {rank['steps_used']} steps, expected "
               f"{count} a step")


def pair_says(bench, names, pattern):
    said = bench.tool.text("verdict", *map(bench.run, names), "--objective", "throughput")
    expect(re.search(pattern, said), f"the text does not say /{pattern}/")


def pair_advice(bench, names, pattern):
    advice = verdict_of(bench, names, "--objective", "throughput")["advice"]
    expect(any(re.search(pattern, row["what"] + " " + row["why"]) for row in advice),
           f"no advice says /{pattern}/: {[row['what'] for row in advice]}")
    for row in advice:
        expect(row["moves"].get("ns") or row["moves"].get("bytes"),
               f"advice without a number: {row['what']}")


def pair_noise(bench, names, method):
    noise = verdict_of(bench, names, "--objective", "throughput")["noise"]
    expect(noise["method"] == method and noise["ns"] > 0, f"noise is {noise}")


def allocator_time(bench, name, rank, low, high):
    mine = {r["rank"]: r for r in bench.tool.breakdown(bench.run(name))["ranks"]}[rank]
    total = parts.mean([parts.ours(step["parts"]) for step in mine["steps"]])
    within("starved in the allocator", total.get("starved:allocator", 0) / MS, low, high, "ms")


# The verdict.

def options_of(bench, names, objective, options):
    said = ("--objective", objective) if objective else ()
    if options == tables.TRUTH:
        for role, name in zip(("base", "checkpointed", "spent"), names):
            time = max(rank["unprofiled_step_ms_back_to_back"]
                       for rank in bench.truth[name]["ranks"].values())
            said += ("--step-time", f"{role}={time}")
        return said
    return said + options


def verdict_word(bench, names, objective, options, word, code):
    said = options_of(bench, names, objective, options)
    answer = verdict_of(bench, names, *said)
    expect(answer["verdict"] == word, f"it says {answer['verdict']} ({answer['sentence']}), "
           f"expected {word}")
    exits = bench.tool.run("verdict", *map(bench.run, names), *said, "--format", "json").code
    expect(exits == code, f"exit {exits}, expected {code}")


def not_comparable(bench, names):
    answer = verdict_of(bench, names, "--objective", "throughput")
    expect(answer["verdict"] == "not-comparable" and not answer["comparable"]["ok"],
           f"it says {answer['verdict']}")
    expect(answer["comparable"]["differences"], "no difference is named")


def itself(bench, name):
    answer = verdict_of(bench, (name, name), "--objective", "throughput")
    expect(answer["delta_ns"]["mean"] == 0, f"differs from itself by {answer['delta_ns']}")
    left = {cause: ns for cause, ns in causes_of(answer).items() if ns}
    expect(not left, f"causes are not zero: {left}")
    expect(answer["verdict"] == "inconclusive", f"it says {answer['verdict']}")


# Tokens, memory, counts.

def tokens(bench, name):
    run = bench.tool.breakdown(bench.run(name))
    expected = bench.truth[name]["tokens_per_step"]
    expect(run["tokens_per_step"] == expected,
           f"{run['tokens_per_step']} tokens a step, expected {expected}")
    expect(run["tokens_how"] == "inferred", f"tokens_how is {run['tokens_how']}")


def memory(bench, name, key, tolerance):
    for rank in bench.tool.breakdown(bench.run(name))["ranks"]:
        truth = bench.truth[name]["ranks"][str(rank["rank"])][key]
        near(f"rank {rank['rank']} {key}", rank["memory"][key] / 2**20, truth / 2**20,
             tolerance * truth / 2**20, "MiB")


def event_count(bench, name):
    ranks = bench.tool.json("info", bench.run(name))["runs"][0]["ranks"]
    for rank in ranks:
        expected = len(traces.Events(traces.read(bench.file(name, rank["rank"]))).items)
        expect(rank["events"] == expected, f"{rank['events']} events, expected {expected}")


# Nothing changes when nothing that matters changes.

def bare(answer):
    """An answer without what names a file: places of dirt, and the run's own name."""
    answer = json.loads(json.dumps(answer))
    for row in answer.get("diagnostics", []):
        row.pop("first", None)
    for run in answer.get("runs", []):
        run.pop("name", None)
        for rank in run.get("ranks", []):
            rank.pop("file", None)
            rank.pop("source", None)
    return answer


def unchanged(bench, name, changed):
    for command in ("breakdown", "gathers"):
        one = bare(bench.tool.json(command, bench.run(name)))
        two = bare(bench.tool.json(command, changed))
        expect(one == two, f"{command} differs: {first_difference(one, two)}")


def first_difference(one, two, where=""):
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted(set(one) | set(two)):
            if one.get(key) != two.get(key):
                return first_difference(one.get(key), two.get(key), f"{where}.{key}")
    if isinstance(one, list) and isinstance(two, list):
        for index, (a, b) in enumerate(zip(one, two)):
            if a != b:
                return first_difference(a, b, f"{where}[{index}]")
        return f"{where} has {len(two)} items, expected {len(one)}"
    return f"{where} is {two!r}, expected {one!r}"


def rewritten(bench, name, folder, label, ending, change):
    place = folder / f"{name}.{label}"
    place.mkdir()
    for rank in (0, 1):
        text = change(traces.read(bench.file(name, rank)))
        traces.write(place / f"{name}.rank{rank}.{ending}", text)
    unchanged(bench, name, str(place / "*"))


def windowed(bench, name, size):
    one = bench.tool.json("breakdown", bench.run(name))
    two = bench.tool.json("breakdown", bench.run(name), "--window", str(size))
    expect(one == two, f"a window of {size} bytes: {first_difference(one, two)}")


def imported(bench, name, folder, ending):
    """The same bytes of JSON from our own files as from what they were made of."""
    place = folder / f"{name}.imported"
    if not place.exists():
        done = bench.tool.run("import", bench.run(name), "-o", str(place))
        expect(done.code == 0, f"import: exit {done.code}: {done.err.strip()}")
    if ending == "inq.zst":
        for file in place.glob("*.inq"):
            subprocess.run(["zstd", "-qf", str(file)], check=True)
    again = str(place / f"*.{ending}")
    for command in ("breakdown", "gathers"):
        one = bench.tool.run(command, bench.run(name), "--format", "json").out
        two = bench.tool.run(command, again, "--format", "json").out
        expect(one and one == two, f"{command}: "
               f"{first_difference(json.loads(one or '{}'), json.loads(two or '{}'))}")


def database(bench, name, folder):
    """A person with a SQLite shell finds the same numbers."""
    place = folder / f"{name}.imported"
    run = bench.tool.breakdown(bench.run(name))
    for rank in run["ranks"]:
        file = next(place.glob(f"*rank{rank['rank']}*.inq"))
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as base:
            query = functools.partial(rows_of, base)
            expect(query("PRAGMA integrity_check") == [("ok",)], "integrity_check is not ok")
            expect(not query("PRAGMA foreign_key_check"), "foreign_key_check finds rows")
            views = {row[0] for row in query("SELECT name FROM sqlite_master WHERE type='view'")}
            lacking = {"steps", "parts_by_step", "kernels", "kernels_by_phase", "gathers_by_unit",
                       "collectives", "launches", "memory_peaks"} - views
            expect(not lacking, f"views are missing: {sorted(lacking)}")
            walls = [row[0] for row in query("SELECT sum(end_ns - start_ns) FROM part "
                                             "GROUP BY step_id ORDER BY step_id")]
            expected = [step["wall_ns"] for step in rank["steps"]]
            expect(walls == expected, f"intervals sum to {walls}, windows are {expected}")
            counts = query("SELECT count(*) FROM gpu_op")[0][0]
            expect(counts > 0, "no GPU op was stored")


def rows_of(base, text):
    return base.execute(text).fetchall()


def cut(bench, name, folder, share):
    """A file that ends early keeps every whole event and is marked."""
    text = traces.read(bench.file(name, 0))
    events = traces.Events(text)
    at = int(len(text) * share)
    whole = sum(end <= at for end in events.ends)
    path = folder / f"cut{int(share * 1000)}.rank0.json"
    traces.write(path, text[:at])
    answer = bench.tool.json("info", str(path))
    expect(answer["runs"][0]["ranks"][0]["events"] == whole,
           f"{answer['runs'][0]['ranks'][0]['events']} events kept, expected {whole}")
    expect("truncated" in diagnostics(answer), "the file is not marked truncated")


# The schemas.

@functools.lru_cache
def schema(command):
    with open(ROOT / "schemas" / f"{command}.schema.json", encoding="utf-8") as file:
        loaded = json.load(file)
    jsonschema.Draft7Validator.check_schema(loaded)
    return jsonschema.Draft7Validator(loaded)


def valid(bench, command, *arguments):
    answer = bench.tool.json(command, *arguments)
    error = next(schema(command).iter_errors(answer), None)
    expect(error is None, error and f"{'/'.join(map(str, error.absolute_path))}: {error.message}")


def per_run(bench):
    for name in bench.names:
        bench.check(f"sums {name}", sums, bench, name)
        bench.check(f"no two collectives overlap {name}", no_overlap, bench, name)
        bench.check(f"path from either rank {name}", path_start, bench, name)
        bench.check(f"compared with itself {name}", itself, bench, name)
        for command in ("info", "breakdown", "gathers"):
            if jsonschema:
                bench.check(f"schema {command} {name}", valid, bench, command, bench.run(name))
            else:
                bench.skip(f"schema {command} {name}", "no jsonschema")
        if not bench.shared:
            continue
        for rank in (0, 1):
            bench.check(f"reference {name} rank {rank}", partition, bench, name, rank)
        bench.check(f"reference path {name}", path_reference, bench, name)
        bench.check(f"tokens {name}", tokens, bench, name)
        bench.check(f"peak allocated {name}", memory, bench, name, "peak_allocated_bytes", 0.01)
        grown = 0.04 if bench.truth[name]["config"]["fsdp"] == 1 else 0.01
        bench.check(f"peak reserved {name}", memory, bench, name, "peak_reserved_bytes", grown)
    for name in eager_small(bench):
        bench.check(f"forward {name}", small_forward, bench, name)
    for (name, rank), (low, high) in tables.ALLOCATOR_MS.items():
        if bench.have(name):
            bench.check(f"allocator {name} rank {rank}", allocator_time, bench, name, rank, low,
                        high)


def per_pair(bench):
    for pair in tables.PAIRS:
        names = (pair["base"], pair["checkpointed"])
        label = f"{names[0]} to {names[1]}"
        if not bench.have(*names):
            bench.skip(label, "no shared traces")
            continue
        role = dict(zip(("base", "checkpointed"), names))
        bench.check(f"{label}: causes sum", causes_sum, bench, names)
        if jsonschema:
            bench.check(f"{label}: schema", valid, bench, "verdict", *map(bench.run, names))
        if "delta" in pair:
            bench.check(f"{label}: difference", pair_delta, bench, pair, names)
        for cause, (low, high) in pair.get("causes", {}).items():
            bench.check(f"{label}: {cause}", pair_cause, bench, names, cause, low, high)
        for headline, (low, high) in pair.get("shares", {}).items():
            bench.check(f"{label}: {headline}", pair_share, bench, names, headline, low, high)
        for (which, key), (low, high) in pair.get("path", {}).items():
            bench.check(f"{label}: {key}", pair_path, bench, role[which], key, low, high)
        for larger, smaller in pair.get("larger", []):
            bench.check(f"{label}: {larger} over {smaller}", pair_larger, bench, names, larger,
                        smaller)
        for (which, reason), count in pair.get("gathers", {}).items():
            bench.check(f"{label}: {reason} gathers of {which}", pair_gathers, bench, role[which],
                        reason, count)
        for key, (which, count) in pair.get("calls", {}).items():
            bench.check(f"{label}: {key} of {which}", pair_retries, bench, role[which], key, count)
        if "blamed" in pair:
            bench.check(f"{label}: blames", pair_blamed, bench, names, pair["blamed"])
        for pattern in pair.get("says", []):
            bench.check(f"{label}: says /{pattern}/", pair_says, bench, names, pattern)
        for pattern in pair.get("advice", []):
            bench.check(f"{label}: advises /{pattern}/", pair_advice, bench, names, pattern)
        if "noise" in pair:
            bench.check(f"{label}: noise", pair_noise, bench, names, pair["noise"])


def per_verdict(bench):
    for names, objective, options, word, code in tables.VERDICTS:
        label = f"verdict {' '.join(names)} {objective}{' given times' if options else ''}"
        if not bench.have(*names):
            bench.skip(label, "no shared traces")
            continue
        bench.check(label, verdict_word, bench, names, objective, options, word, code)
        if jsonschema:
            said = options_of(bench, names, objective, options)
            bench.check(f"{label}: schema", valid, bench, "verdict", *map(bench.run, names), *said)
    for names in tables.NOT_COMPARABLE:
        label = f"not comparable {' '.join(names)}"
        if bench.have(*names):
            bench.check(label, not_comparable, bench, names)
        else:
            bench.skip(label, "no shared traces")


def invariances(bench, folder):
    several = [name for name in ("big_none", "f2_ac_block", "slow1_ac_reentrant_outside")
               if bench.have(name)]
    for name in several:
        for label, ending, change in (
                ("shifted", "json", lambda text: traces.shifted(text, 86_400_000_017)),
                ("shuffled", "json", lambda text: traces.shuffled(text, 1)),
                ("plain", "json", lambda text: text),
                ("gz", "json.gz", lambda text: text)):
            bench.check(f"unchanged when {label} {name}", rewritten, bench, name, folder, label,
                        ending, change)
        for size in (1, 2, 3, 7, 64, 4093, 65536, 1 << 26):
            bench.check(f"unchanged with a window of {size} {name}", windowed, bench, name, size)
        for ending in ("inq", "inq.zst"):
            bench.check(f"unchanged when imported as {ending} {name}", imported, bench, name,
                        folder, ending)
        bench.check(f"database {name}", database, bench, name, folder)
    bench.check("an overlap is seen", overlap_seen, bench, folder)
    for name in several[:2]:
        bench.check(f"events are counted {name}", event_count, bench, name)
    for share in (0.1, 0.3, 0.5, 0.777, 0.999):
        bench.check(f"cut at {share} keeps whole events", cut, bench, "big_none", folder, share)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inquest", default=os.environ.get("INQUEST", "build/src/cli/inquest"))
    parser.add_argument("--shared", type=pathlib.Path,
                        default=os.environ.get("INQUEST_SHARED", ROOT.parent / "shared"))
    parser.add_argument("--only", help="a pattern: only the checks whose name it is found in")
    arguments = parser.parse_args()
    if not os.access(arguments.inquest, os.X_OK):
        print(f"laws.py: '{arguments.inquest}' is no program; build first", file=sys.stderr)
        return 1
    bench = Bench(Tool(arguments.inquest), pathlib.Path(arguments.shared) / "traces" / "h200",
                  arguments.only)
    per_run(bench)
    per_pair(bench)
    per_verdict(bench)
    with tempfile.TemporaryDirectory() as folder:
        invariances(bench, pathlib.Path(folder))
    return bench.tap.end()


if __name__ == "__main__":
    raise SystemExit(main())
