"""Adds up meson's test logs: prints what failed and, last, "N passed, N failed".

A program that speaks TAP counts once a line of it, any other program once.
Exit 1 if anything failed or nothing ran.
"""

import argparse
import json
import re

TAP_LINE = re.compile(r"^(not )?ok\b[ \t]*\d*[ \t]*-?[ \t]*(.*)$")
TAP_PLAN = re.compile(r"^1\.\.\d+", re.M)


def cases(record):
    """Yields (name, outcome, lines to show) of each case of one program's record."""
    program = record["name"]
    output = record.get("stdout") or ""
    failed = record["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")
    seen_failure = False
    lines = output.splitlines()
    if TAP_PLAN.search(output) and record["result"] != "SKIP":
        for index, line in enumerate(lines):
            match = TAP_LINE.match(line)
            if not match:
                continue
            bad, name = match.groups()
            if re.search(r"# *skip", name, re.I):
                # cmocka says "not ok" of a skip, which meson takes for a failure.
                failed = failed and not (bad and record["result"] == "FAIL" and
                                         record["returncode"] == 0)
                yield f"{program}: {name}", "skipped", []
            elif bad:
                seen_failure = True
                told = []
                for comment in lines[index + 1:]:
                    if not comment.startswith("#"):
                        break
                    told.append(comment)
                yield f"{program}: {name}", "failed", told
            else:
                yield f"{program}: {name}", "passed", []
        if failed and not seen_failure:
            yield f"{program}: {record['result']}", "failed", lines[-5:] + errors(record)
    elif record["result"] == "SKIP":
        yield program, "skipped", []
    elif failed:
        yield f"{program}: {record['result']}", "failed", lines[-20:] + errors(record)
    else:
        yield program, "passed", []


def errors(record):
    return (record.get("stderr") or "").splitlines()[-40:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true", dest="verbose")
    parser.add_argument("--broken", nargs="*", default=[])
    parser.add_argument("logs", nargs="*")
    arguments = parser.parse_args()

    count = {"passed": 0, "failed": 0, "skipped": 0}
    for folder in arguments.broken:
        count["failed"] += 1
        print(f"FAIL {folder}: does not build")
    for log in arguments.logs:
        folder = log.split("/")[0]
        try:
            with open(log, encoding="utf-8", errors="replace") as file:
                records = [json.loads(line) for line in file]
        except OSError:
            count["failed"] += 1
            print(f"FAIL {folder}: meson ran no test; see {folder}/tests.log")
            continue
        for record in records:
            for name, outcome, told in cases(record):
                count[outcome] += 1
                if outcome == "failed":
                    print(f"FAIL {folder}: {name}")
                    for line in told:
                        print(f"     {line}")
                elif arguments.verbose:
                    print(f"{'ok  ' if outcome == 'passed' else 'skip'} {folder}: {name}")
    if count["skipped"]:
        print(f"{count['skipped']} skipped, for what they need is not here; -v names them")
    print(f"{count['passed']} passed, {count['failed']} failed")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
