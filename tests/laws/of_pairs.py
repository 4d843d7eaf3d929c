"""Laws of two and three runs: the difference, its causes, what is said of them, the verdict."""

import re

import tables
from bench import MS
from of_runs import path_mean
from tool import expect, within


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


def pair_starved(bench, names):
    """The share that waits for the host is that of the used steps of the path."""
    for row, name in zip(verdict_of(bench, names)["runs"], names):
        if "launch_bound" not in row:
            continue
        run = bench.tool.breakdown(bench.run(name))
        used = {step["name"] for step in run["ranks"][0]["steps"] if step["used"]}
        steps = [step for step in run["path"]["steps"] if step["name"] in used]
        starved = sum(part["ns"] for step in steps for part in step["parts"]
                      if part["state"] == "starved")
        share = starved / sum(step["wall_ns"] for step in steps)
        within(f"starved_frac of {name}", row["launch_bound"]["starved_frac"], share - 1e-6,
               share + 1e-6)


def host_evidence(bench, names):
    """What is shown for `host` is what it is made of, before slower calls are taken off it."""
    answer = verdict_of(bench, names)
    causes = causes_of(answer)
    rows = next(row for row in answer["causes"] if row["cause"] == "host")["evidence"]
    change = sum(row["checkpointed"] - row["base"] for row in rows if row["unit"] == "ns")
    within("the evidence of host", change / MS, (causes["host"] + causes["host_speed"]) / MS - .001,
           (causes["host"] + causes["host_speed"]) / MS + .001, "ms")


def notes_are_of_rows(bench, names):
    """What is said of a cause stands below a table that has it."""
    text = bench.tool.run("verdict", *map(bench.run, names), "--objective", "throughput").out
    part = text[text.index("\nWhere the"):].split("\n\n")[0]
    rows = set(re.findall(r"^    (\w+) +[-+0]", part, re.M))
    notes = {name for name in re.findall(r"^  (\w+): ", part, re.M) if name in tables.CAUSES}
    expect(notes <= rows, f"notes on {sorted(notes - rows)} without a row")


def dearest_first(bench, names):
    answer = verdict_of(bench, names)
    rows = next(row for row in answer["causes"] if row["cause"] == "repeated_all_gather")
    costs = [row["base"] + row["checkpointed"] for row in rows["evidence"] if row["kind"] == "unit"]
    expect(len(costs) > 1 and costs == sorted(costs, reverse=True), f"units cost {costs}")


def inflation(bench, name):
    """What the profiler added to a launch-bound step lies in the range that is printed."""
    row = verdict_of(bench, (name, name))["runs"][0]
    expect("launch_bound" in row, "it is not launch-bound")
    truth = bench.truth[name]["ranks"].values()
    alone = max(rank["unprofiled_step_ms_back_to_back"] for rank in truth)
    low, high = (ns / MS for ns in row["launch_bound"]["profiler_cost_ns"])
    within("what the profiler added", row["traced_step_ns"] / MS - alone, low, high, "ms")


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


def options_of(bench, names, objective, options):
    said = ("--objective", objective) if objective else ()
    if options == tables.TRUTH:
        for role, name in zip(("base", "checkpointed", "spent"), names):
            time = max(rank["unprofiled_step_ms_back_to_back"]
                       for rank in bench.truth[name]["ranks"].values())
            said += ("--step-time", f"{role}={time}")
        return said
    return said + options


def pair_in_noise(bench, names):
    answer = verdict_of(bench, names, "--objective", "throughput")
    expect(abs(answer["delta_ns"]["mean"]) <= answer["noise"]["ns"],
           f"the difference, {answer['delta_ns']['mean'] / MS:.2f} ms, is beyond the noise, "
           f"{answer['noise']['ns'] / MS:.2f} ms")


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


def prove_pairs(bench):
    for pair in tables.PAIRS:
        names = (pair["base"], pair["checkpointed"])
        label = f"{names[0]} to {names[1]}"
        if not bench.have(*names):
            bench.skip(label, "no shared traces")
            continue
        role = dict(zip(("base", "checkpointed"), names))
        bench.check(f"{label}: causes sum", causes_sum, bench, names)
        bench.check(f"{label}: starved share", pair_starved, bench, names)
        bench.check_schema(f"{label}: schema", "verdict", *map(bench.run, names))
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
        if pair.get("in_noise"):
            bench.check(f"{label}: inside the noise", pair_in_noise, bench, names)


def prove_verdicts(bench):
    for names, objective, options, word, code in tables.VERDICTS:
        label = f"verdict {' '.join(names)} {objective}{' given times' if options else ''}"
        if not bench.have(*names):
            bench.skip(label, "no shared traces")
            continue
        bench.check(label, verdict_word, bench, names, objective, options, word, code)
        said = options_of(bench, names, objective, options)
        bench.check_schema(f"{label}: schema", "verdict", *map(bench.run, names), *said)
    for names, law in tables.EVIDENCE:
        label = f"evidence {' '.join(names)} {law}"
        if bench.have(*names):
            bench.check(label, globals()[law], bench, names)
        else:
            bench.skip(label, "no shared traces")
    for name in tables.LAUNCH_BOUND:
        if bench.have(name):
            bench.check(f"profiler's cost {name}", inflation, bench, name)
        else:
            bench.skip(f"profiler's cost {name}", "no shared traces")
    for names in tables.NOT_COMPARABLE:
        label = f"not comparable {' '.join(names)}"
        if bench.have(*names):
            bench.check(label, not_comparable, bench, names)
        else:
            bench.skip(label, "no shared traces")


def prove(bench):
    prove_pairs(bench)
    prove_verdicts(bench)
    for name in bench.names:
        bench.check(f"compared with itself {name}", itself, bench, name)
