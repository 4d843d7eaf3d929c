"""Laws of recordings made by others: old, odd, of other machines.  None may crash the command."""

import parts
import tables
from bench import MS
from tool import expect, within


def answered(bench, command, path, code):
    answer = bench.tool.run(command, str(path), "--format", "json")
    expect(answer.code in ((0, 3) if code is None else (code,)),
           f"{command}: exit {answer.code}, expected {code}: {answer.err.strip()[-200:]}")
    if answer.code == 3:
        expect(answer.err.count("\n") == 1 and not answer.out,
               f"{command}: more than a line of refusal: {answer.err!r}")


def sums(bench, path):
    for rank in bench.tool.breakdown(str(path))["ranks"]:
        for step in rank["steps"]:
            total = sum(part["ns"] for part in step["parts"])
            expect(total == step["wall_ns"],
                   f"{step['name']}: parts sum to {total} ns of {step['wall_ns']}")


def recompute(bench, path, low, high):
    rank = bench.tool.breakdown(str(path))["ranks"][0]
    total = sum(parts.ours(step["parts"]).get("busy/recompute", 0) for step in rank["steps"])
    within("recomputation", total / MS, low, high, "ms")


def prove(bench):
    folder = bench.shared and bench.shared.parent / "public"
    for name, (info, breakdown) in tables.PUBLIC.items():
        if not folder or not (folder / name).exists():
            bench.skip(f"public {name}", "no shared traces")
            continue
        path = folder / name
        bench.check(f"public info {name}", answered, bench, "info", path, info)
        bench.check(f"public breakdown {name}", answered, bench, "breakdown", path, breakdown)
        if info == 0:
            bench.check_schema(f"public schema info {name}", "info", str(path))
        if breakdown == 0:
            bench.check(f"public sums {name}", sums, bench, path)
            bench.check_schema(f"public schema breakdown {name}", "breakdown", str(path))
        if name in tables.PUBLIC_RECOMPUTE_MS:
            bench.check(f"public recompute {name}", recompute, bench, path,
                        *tables.PUBLIC_RECOMPUTE_MS[name])
