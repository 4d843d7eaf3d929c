"""Laws of inquest's own recordings: what torch.profiler's traces say of the same configuration.

The recordings of samples/recorded and the traces of samples/ were made on two H200 each, but not on
the same day: what is counted must agree exactly, what is timed within a share of the step.
"""

import sqlite3
import subprocess

import of_runs
import parts
import tables
from bench import MS, ROOT
from tool import expect, near

# backward() itself fills the gradient of the loss with ones before autograd begins: the marks say
# backward, the structure of a torch.profiler trace can't tell it from forward's last kernel.
FIRST_GRADIENT = "FillFunctor<float>"

KERNELS = """
SELECT phase.word, name.value, count(*) FROM gpu_op_phase AS o
JOIN step ON step.id = o.step_id AND step.used
JOIN gpu_op AS g ON g.id = o.gpu_op_id AND g.kind = 0
JOIN string AS name ON name.id = g.name_id
JOIN word AS phase ON phase.domain = 'phase' AND phase.value = o.phase
GROUP BY phase.word, name.value"""

LOST = ("dropped_notes", "dropped_buffers", "dropped_by_cupti", "untimed_records",
        "unlinked_collectives")


def recorded(name):
    return str(ROOT / "samples" / "recorded" / name)


def profiled(name):
    return str(ROOT / "samples" / f"{name}.rank*.json.zst")


def sums(bench, name):
    for step in bench.tool.breakdown(recorded(name))["path"]["steps"]:
        total = sum(part["ns"] for part in step["parts"])
        expect(total == step["wall_ns"], f"path {step['name']}: parts sum to {total} ns of "
               f"{step['wall_ns']}")


def whole(bench, name, folder):
    """Nothing was lost, and every NCCL kernel is linked to its collective."""
    found = of_runs.diagnostics(bench.tool.json("info", recorded(name)))
    lost = {"dropped_records", "no_cupti", "recorder_stopped", "recording_cut", "truncated", "missing_rank",
            "no_steps", "launch_after_start", "unmatched_collective"} & set(found)
    expect(not lost, f"diagnostics: {sorted(lost)}")
    for rank in (0, 1):
        file = folder / f"{name}.rank{rank}.raw.inq"
        subprocess.run(["zstd", "-dqf", f"{recorded(name)}/rank{rank}.inq.zst", "-o", str(file)],
                       check=True)
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as base:
            facts = dict(base.execute("SELECT key, value FROM meta"))
            for key in LOST:
                expect(str(facts.get(key)) == "0", f"rank {rank}: {key} is {facts.get(key)}")
            kernels, linked = base.execute(
                "SELECT count(*), sum(g.id IN (SELECT gpu_op_id FROM collective)) FROM gpu_op AS g"
                " JOIN string AS s ON s.id = g.name_id WHERE s.value LIKE 'nccl%Kernel%'").fetchone()
            expect(kernels > 0 and kernels == linked,
                   f"rank {rank}: {linked} of {kernels} NCCL kernels have a collective")


def told(bench, name):
    run = bench.tool.breakdown(recorded(name))
    expect(run["tokens_how"] == "marked", f"tokens_how is {run['tokens_how']}")
    for rank in run["ranks"]:
        hows = {part["how"] for step in rank["steps"] if step["used"] for part in step["parts"]
                if part["state"] == "busy" and part["phase"] in ("recompute", "optimizer")}
        expect(hows == {"marked"}, f"rank {rank['rank']}: recompute and optimizer are {hows}")
        waits = {part["how"]: part["ns"] for step in rank["steps"] if step["used"]
                 for part in step["parts"] if part.get("on") == "reduce_scatter"}
        expect(max(waits, key=waits.get) == "exact", f"rank {rank['rank']}: waiting is {waits}")


def counted(bench, name):
    """Tokens, FLOPs by phase, peak allocated."""
    ours, others = (bench.tool.breakdown(run(name)) for run in (recorded, profiled))
    expect(ours["tokens_per_step"] == others["tokens_per_step"],
           f"{ours['tokens_per_step']} tokens a step, not {others['tokens_per_step']}")
    for one, other in zip(ours["ranks"], others["ranks"]):
        for key in ("forward_flop", "recompute_flop", "backward_flop"):
            expect(one["flops"][key] == other["flops"][key],
                   f"rank {one['rank']}: {key} {one['flops'][key]}, not {other['flops'][key]}")
        peaks = [rank["memory"]["peak_allocated_bytes"] for rank in (one, other)]
        expect(peaks[0] == peaks[1], f"rank {one['rank']}: {peaks[0]} bytes allocated, not {peaks[1]}")


def ledger(bench, run):
    ranks = bench.tool.json("gathers", run)["runs"][0]["ranks"]
    return {(rank["rank"], row["unit"], row["reason"], row["prefetched"]):
            (row["count"] / rank["steps_used"], row["bytes"] / rank["steps_used"])
            for rank in ranks for row in rank["gathers"]}


def ledgers(bench, name):
    ours, theirs = ledger(bench, recorded(name)), ledger(bench, profiled(name))
    expect(len(theirs) > 0, "no gathers to compare")
    for key in sorted(set(ours) | set(theirs)):
        expect(ours.get(key) == theirs.get(key), f"{key}: {ours.get(key)} gathers and bytes a "
               f"step, not {theirs.get(key)}")


def kernels(bench, run, folder, rank):
    """{(phase, kernel's name): how often a step}."""
    folder.mkdir(exist_ok=True)
    done = bench.tool.run("import", run, "-o", str(folder))
    expect(done.code == 0, f"import: exit {done.code}: {done.err}")
    with sqlite3.connect(f"file:{next(folder.glob(f'*rank{rank}*'))}?mode=ro", uri=True) as base:
        steps = base.execute("SELECT count(*) FROM step WHERE used").fetchone()[0]
        return {(phase, name): count / steps for phase, name, count in base.execute(KERNELS)}


def phases(bench, name, folder, rank):
    """Every kernel is in the same phase as in the trace, as often a step."""
    ours = kernels(bench, recorded(name), folder / f"{name}.recorded", rank)
    theirs = kernels(bench, profiled(name), folder / f"{name}.profiled", rank)
    expect(sum(theirs.values()) > 500, f"only {sum(theirs.values())} kernels a step to compare")
    for phase, change in (("forward", -1), ("backward", 1)):
        key = next(key for key in sorted(set(ours) | set(theirs))
                   if key[0] == phase and FIRST_GRADIENT in key[1])
        theirs[key] = theirs.get(key, 0) + change
    for key in sorted(set(ours) | set(theirs)):
        expect(ours.get(key, 0) == theirs.get(key, 0), f"{key[0]}: {key[1][:80]} "
               f"{ours.get(key, 0):g} times a step, not {theirs.get(key, 0):g}")


def partition(bench, name):
    """Shares of the step: the two days' clocks, and torch.profiler's own cost, are apart."""
    wall, ours = of_runs.path_mean(bench.tool.breakdown(recorded(name)))
    other_wall, theirs = of_runs.path_mean(bench.tool.breakdown(profiled(name)))
    near("the step", wall / MS, other_wall / MS, tables.DAYS_TOLERANCE * other_wall / MS, "ms")
    key, one, other = parts.farthest({key: ns / wall for key, ns in ours.items()},
                                     {key: ns / other_wall for key, ns in theirs.items()})
    expect(abs(one - other) <= tables.PARTITION_TOLERANCE,
           f"{key} is {100 * one:.1f} % of the step, expected {100 * other:.1f} %")


def prove(bench, folder):
    for name in tables.SAMPLES:
        for rank in (0, 1):
            bench.check(f"recorded phases {name} rank {rank}", phases, bench, name, folder, rank)
        bench.check(f"recorded sums {name}", sums, bench, name)
        bench.check(f"recorded whole {name}", whole, bench, name, folder)
        bench.check(f"recorded is marked and exact {name}", told, bench, name)
        bench.check(f"recorded counts {name}", counted, bench, name)
        bench.check(f"recorded ledger {name}", ledgers, bench, name)
        bench.check(f"recorded partition {name}", partition, bench, name)
        for command in ("info", "breakdown", "gathers"):
            bench.check_schema(f"recorded schema {command} {name}", command, recorded(name))
        bench.check_schema(f"recorded schema import {name}", "import", recorded(name), "-o",
                           str(folder / f"{name}.kept"))
