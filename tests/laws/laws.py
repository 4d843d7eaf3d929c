"""The laws: what inquest must say about real traces, against what was measured and derived apart.

Prints TAP, a line a check.  Reads the command's JSON as any other client would.
The shared traces are looked for in $INQUEST_SHARED/traces/h200, else in ../shared beside the
sources; without them the laws are proven on samples/ alone and the rest is skipped.
"""

import argparse
import os
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import of_files  # noqa: E402
import of_pairs  # noqa: E402
import of_public  # noqa: E402
import of_recorded  # noqa: E402
import of_runs  # noqa: E402
from bench import ROOT, Bench  # noqa: E402
from tool import Tool  # noqa: E402


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
    of_runs.prove(bench)
    of_pairs.prove(bench)
    of_public.prove(bench)
    with tempfile.TemporaryDirectory() as folder:
        of_files.prove(bench, pathlib.Path(folder))
        of_recorded.prove(bench, pathlib.Path(folder))
    return bench.tap.end()


if __name__ == "__main__":
    raise SystemExit(main())
