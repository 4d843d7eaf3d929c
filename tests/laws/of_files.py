"""Laws of files: nothing changes when nothing that matters changes, and what is lost is said."""

import functools
import json
import sqlite3

import traces
from of_runs import diagnostics
from tool import expect


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
    place = folder / f"{name}.{ending}"
    compress = ("--compress",) if ending.endswith(".zst") else ()
    done = bench.tool.run("import", bench.run(name), "-o", str(place), *compress)
    expect(done.code == 0, f"import: exit {done.code}: {done.err.strip()}")
    again = str(place / f"{name}.rank*.{ending}")
    for command in ("breakdown", "gathers"):
        one = bench.tool.run(command, bench.run(name), "--format", "json").out
        two = bench.tool.run(command, again, "--format", "json").out
        expect(one and one == two, f"{command}: "
               f"{first_difference(json.loads(one or '{}'), json.loads(two or '{}'))}")


def database(bench, name, folder):
    """A person with a SQLite shell finds the same numbers."""
    place = folder / f"{name}.inq"
    run = bench.tool.breakdown(bench.run(name))
    for rank in run["ranks"]:
        file = next(place.glob(f"*rank{rank['rank']}*.inq"))
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as base:
            query = functools.partial(rows_of, base)
            expect(query("PRAGMA integrity_check") == [("ok",)], "integrity_check is not ok")
            expect(not query("PRAGMA foreign_key_check"), "foreign_key_check finds rows")
            views = {row[0] for row in query("SELECT name FROM sqlite_master WHERE type='view'")}
            lacking = {"steps", "parts_by_step", "kernels", "kernels_by_phase", "gathers_by_unit",
                       "collectives", "launches", "memory_peaks", "streams"} - views
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


def overlap_seen(bench, folder):
    for rank in (0, 1):
        text = traces.read(bench.file("big_none", rank))
        traces.write(folder / f"lapped.rank{rank}.json", traces.overlapping(text))
    found = diagnostics(bench.tool.json("breakdown", str(folder / "lapped.*")))
    expect(found.get("collective_overlap", 0) > 0,
           "a collective was moved onto another, and no collective_overlap was counted")


def event_count(bench, name):
    ranks = bench.tool.json("info", bench.run(name))["runs"][0]["ranks"]
    for rank in ranks:
        expected = len(traces.Events(traces.read(bench.file(name, rank["rank"]))).items)
        expect(rank["events"] == expected, f"{rank['events']} events, expected {expected}")


def prove(bench, folder):
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
