"""Laws of one run: sums, the independent reading, the path, tokens, memory."""

import parts
import tables
from bench import MS
from tool import expect, near, within


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
        apart(name, step["name"], parts.ours(step["parts"]), parts.theirs(other["part"], 1000),
              wall, limit)


def apart(name, where, one, two, wall, limit):
    for names, rename in ((tables.STARVED_AS_A_WHOLE, parts.starved_as_a_whole),
                          (tables.HIDES_RECOMPUTATION, parts.told_backward)):
        if name in names:
            one, two = parts.folded(one, rename), parts.folded(two, rename)
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
    start = () if name in tables.PATH_AS_THE_JOB else ("--path-from", "0")
    wall, mine = path_mean(bench.tool.breakdown(bench.run(name), *start))
    limit = tables.PATH_TOLERANCE * wall
    near("the step", wall / MS, reading["step_ms"], limit / MS, "ms")
    apart(name, "path", mine, parts.theirs(reading["part_ms"], MS), wall, limit)


def path_start(bench, name):
    wall, zero = path_mean(bench.tool.breakdown(bench.run(name), "--path-from", "0"))
    other_wall, one = path_mean(bench.tool.breakdown(bench.run(name), "--path-from", "1"))
    limit = tables.PATH_TOLERANCE * wall
    near("the step from rank 1", other_wall / MS, wall / MS, limit / MS, "ms")
    apart(name, "path from rank 0", zero, one, wall, limit)


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


def diagnostics(answer):
    return {row["kind"]: row["count"] for row in answer["diagnostics"]}


def no_overlap(bench, name):
    found = diagnostics(bench.tool.json("breakdown", bench.run(name)))
    expect("collective_overlap" not in found,
           f"{found.get('collective_overlap')} collectives overlap")
    expect("unmatched_collective" not in found, "the ranks disagree on their collectives")


def allocator_time(bench, name, rank, low, high):
    mine = {r["rank"]: r for r in bench.tool.breakdown(bench.run(name))["ranks"]}[rank]
    total = parts.mean([parts.ours(step["parts"]) for step in mine["steps"]])
    within("starved in the allocator", total.get("starved:allocator", 0) / MS, low, high, "ms")


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


def prove(bench):
    for name in bench.names:
        bench.check(f"sums {name}", sums, bench, name)
        bench.check(f"no two collectives overlap {name}", no_overlap, bench, name)
        bench.check(f"path from either rank {name}", path_start, bench, name)
        for command in ("info", "breakdown", "gathers"):
            bench.check_schema(f"schema {command} {name}", command, bench.run(name))
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
