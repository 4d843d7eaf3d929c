"""The rules of the house, held by a script: layers, names, lengths, headers, words, manuals.

Prints TAP, a line a rule and file kind.  Needs nothing but Python; a tool that is not there
(clang-format, shellcheck, scdoc, the second compiler) makes its rule a skip.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from tap import Tap  # noqa: E402

# The folders in the order data flows: each may include itself, those before it, nothing behind it.
ORDER = ["base", "trace", "store", "read", "classify", "phase", "attribute", "compare", "verdict",
         "render", "library", "cli"]
# Lives in another program's process: no part of the order.
APART = {"collect"}
# Texts that the build makes from schemas/ are included under this name.
GENERATED = "schemas"
# The library's own interface, for what implements it and for what uses it.
PUBLIC_FROM = {"library", "cli"}

STANDARD_HEADERS = {
    "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "iso646.h",
    "limits.h", "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h", "stdarg.h",
    "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h",
    "string.h", "tgmath.h", "threads.h", "time.h", "uchar.h", "wchar.h", "wctype.h"}

# Headers of others that ours may use where they are found (__has_include), and do without.
OPTIONAL_HEADERS = {"nvtx3/nvToolsExt.h"}

SOURCE_HARD_CAP = 900
SOURCE_SOFT_CAP = 600
HEADER_SOFT_CAP = 150
CLANG_FORMAT_VERSION = "14"

TEXT_ENDINGS = {".c", ".h", ".py", ".sh", ".md", ".scd", ".build", ".txt", ".rules", ".sql",
                ".json", ".in"}
# Places and hosts of one machine, and notes of work not done, have no business in the tree.
# The first letter stands in brackets so that this file does not hold what it looks for.
FORBIDDEN = [
    (r"[/]work/", "a path of one machine"),
    (r"[/]home/\w", "a path of one machine"),
    (r"[/]root/", "a path of one machine"),
    (r"[d]ebian\.org|[d]eb\.\w+\.\w+/", "the name of a package mirror"),
    (r"\b[T]ODO\b|\b[F]IXME\b|\b[X]XX\b", "a note of work not done"),
    (r"[ \t]+$", "blanks at the end of a line"),
    (r"\r", "a carriage return"),
]
# Kept as others wrote or printed them.
VERBATIM = ["LICENSE", "tests/fuzz/"]
VERBATIM_ENDINGS = {".stdout", ".stderr"}


def tree(*folders):
    """Every file of ours, in a stable order; builds and hidden folders but .ci are left out."""
    for folder in folders or ["."]:
        for place, names, files in os.walk(ROOT / folder):
            names[:] = sorted(n for n in names if n == ".ci" or not
                              (n.startswith(".") or n.startswith("build") or n == "__pycache__"))
            for file in sorted(files):
                yield pathlib.Path(place, file)


def short(path):
    return path.relative_to(ROOT).as_posix()


def c_files(*folders):
    return [p for p in tree(*folders) if p.suffix in (".c", ".h")]


def includes(path):
    """Yields (line number, quoted or not, name) of every #include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def include_direction():
    for path in c_files("src"):
        folder = path.relative_to(ROOT / "src").parts[0]
        if folder in APART:
            allowed = {folder}
        elif folder in ORDER:
            allowed = set(ORDER[:ORDER.index(folder) + 1])
        else:
            yield f"{short(path)}: '{folder}' has no place in the order of the folders"
            continue
        allowed.add(GENERATED)
        if folder in PUBLIC_FROM:
            allowed.add("inquest")
        for line, quoted, name in includes(path):
            first = name.split("/")[0]
            if not quoted and first not in ORDER:
                continue
            if "/" not in name or name.startswith("."):
                yield f'{short(path)}:{line}: "{name}" does not name its folder'
            elif first not in allowed:
                yield f'{short(path)}:{line}: {folder} may not include "{name}"'


def public_includes():
    for path in c_files("include"):
        for line, quoted, name in includes(path):
            if not (name in STANDARD_HEADERS | OPTIONAL_HEADERS or name.startswith("inquest/")):
                yield f"{short(path)}:{line}: {name} is neither C's nor ours"


def unique_names():
    seen = {}
    for path in c_files("src"):
        if path.name in seen:
            yield f"{short(path)} and {short(seen[path.name])} have one name"
        seen.setdefault(path.name, path)


def own_header_first():
    for path in c_files("src"):
        if path.suffix != ".c" or not path.with_suffix(".h").exists():
            continue
        own = path.with_suffix(".h").relative_to(ROOT / "src").as_posix()
        first = next(includes(path), (1, True, "nothing"))
        if first[2] != own:
            yield f"{short(path)}:{first[0]}: includes {first[2]} before its own header"


def lengths(tap):
    for path in c_files("src", "include", "tests"):
        count = len(path.read_text().splitlines())
        if path.suffix == ".c" and count > SOURCE_HARD_CAP:
            yield f"{short(path)}: {count} lines, more than {SOURCE_HARD_CAP}"
        elif path.suffix == ".c" and count > SOURCE_SOFT_CAP:
            tap.note(f"{short(path)}: {count} lines, {SOURCE_SOFT_CAP} are pleasant")
        elif path.suffix == ".h" and count > HEADER_SOFT_CAP:
            tap.note(f"{short(path)}: {count} lines, {HEADER_SOFT_CAP} are pleasant")


def header_alone(compiler):
    """Each header must compile as the only thing in a file."""
    for path in c_files("src", "include"):
        if path.suffix != ".h":
            continue
        base = ROOT / path.relative_to(ROOT).parts[0]
        text = f'#include "{path.relative_to(base).as_posix()}"\n'
        done = subprocess.run(
            [*compiler, "-std=c17", "-D_GNU_SOURCE", "-DHAVE_ISAL=0", "-Wall", "-Wextra", "-Werror",
             "-fsyntax-only", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}", "-xc", "-"],
            input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.splitlines() or ["?"]
            yield f"{short(path)}: {next((x for x in lines if 'error' in x), lines[0])}"


def words():
    for path in tree():
        name = short(path)
        plain = path.suffix in TEXT_ENDINGS or name == ".ci/run"
        if not plain or path.suffix in VERBATIM_ENDINGS or any(map(name.startswith, VERBATIM)):
            continue
        text = path.read_text(errors="replace")
        if text and not text.endswith("\n"):
            yield f"{name}: no newline at its end"
        for number, line in enumerate(text.split("\n"), 1):
            for pattern, what in FORBIDDEN:
                if re.search(pattern, line):
                    yield f"{name}:{number}: {what}"


# Lists of words in the code whose meaning a user must find in the README.
EXPLAINED = {"src/trace/words.h": ["STATES", "STARVE_REASONS"],
             "src/compare/comparison.h": ["CAUSES", "HEADLINES"],
             "src/verdict/verdict.h": ["OBJECTIVES", "VERDICTS", "ROLES"]}


# In somebody else's process: stdout and the process's end are theirs.
FOREIGN = re.compile(r"\b(v?f?printf|f?puts|f?putc|putchar|perror|psignal|_?_?exit|_Exit|abort|assert)\s*\(")


def good_guest():
    for path in c_files("src/collect"):
        text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), path.read_text(),
                      flags=re.S)
        for number, line in enumerate(text.split("\n"), 1):
            code = line.replace("fprintf(stderr", "")
            if FOREIGN.search(code) or "stdout" in code:
                yield f"{short(path)}:{number}: {code.strip()}"


def explained():
    readme = (ROOT / "README.md").read_text().lower()
    for name, lists in EXPLAINED.items():
        text = (ROOT / name).read_text().replace("\\\n", " ")
        for which in lists:
            found = re.search(rf"#define {which}\(X\)(.*)", text)
            words_of = re.findall(r'"([^"]+)"', found.group(1)) if found else []
            if not words_of:
                yield f"{name}: no list of words {which}"
            for word in words_of:
                if word != "none" and word.lower() not in readme:
                    yield f"README.md does not explain '{word}' ({which})"


DEMO = re.compile(r"(<!-- demo -->\n).*?(<!-- end of demo -->)", re.S)


def readme_with_demo():
    """The README with what the demo prints, down to the causes."""
    printed = (ROOT / "tests/golden/verdict/recorded_text.stdout").read_text()
    answer = printed.split("\nEvidence")[0].rstrip("\n")
    readme = (ROOT / "README.md").read_text()
    return DEMO.sub(lambda match: f"{match[1]}```text\n{answer}\n```\n{match[2]}", readme)


def demo_shown():
    if readme_with_demo() != (ROOT / "README.md").read_text():
        yield "README.md shows another answer than the demo prints: sh tests/run.sh --refresh"


def golden_orphans():
    for path in tree("tests/golden"):
        if path.suffix in (".stdout", ".stderr", ".exit") and not path.with_suffix(".sh").exists():
            yield f"{short(path)}: no case of that name"


def clang_format():
    for name in (f"clang-format-{CLANG_FORMAT_VERSION}", "clang-format"):
        program = shutil.which(name)
        if not program:
            continue
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        if f"version {CLANG_FORMAT_VERSION}." in said.stdout:
            return program
    return None


def formatted(program):
    done = subprocess.run([program, "--dry-run", "-Werror", *c_files("src", "include", "tests")],
                          capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        files = re.findall(r"^(\S+?):(\d+):\d+: error", done.stderr, re.M)
        first = {}
        for name, line in files:
            first.setdefault(name, line)
        for name, line in first.items():
            yield f"{short(pathlib.Path(name))}:{line}: not as clang-format {CLANG_FORMAT_VERSION} has it"
        if not files:
            yield done.stderr.strip()


def shell_scripts():
    return [p for p in tree() if p.suffix == ".sh" or short(p) == ".ci/run"]


def shellchecked():
    # Golden cases are fragments: what they quote badly they quote on purpose.
    files = [str(p) for p in shell_scripts()
             if not short(p).startswith("tests/golden/") or p.name == "run.sh"]
    done = subprocess.run(["shellcheck", "-f", "gcc", *files],
                          capture_output=True, text=True, check=False)
    yield from done.stdout.splitlines()


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")


def manuals(program):
    """A command's manual names the options that its --help names, no more and no fewer."""
    said = help_of(program)
    commands = re.findall(r"^  ([a-z]+)\s", said, re.M)
    if not commands:
        yield "inquest --help lists no command"
    helped = {command: set(OPTION.findall(help_of(program, command))) for command in commands}
    for command, options in helped.items():
        yield from compare_options(ROOT / "man" / f"inquest-{command}.1.scd", options, options)
    # The first page may speak of any command's options.
    yield from compare_options(ROOT / "man" / "inquest.1.scd", set(OPTION.findall(said)),
                               set.union(set(OPTION.findall(said)), *helped.values()))


def compare_options(page, needed, allowed):
    if not page.exists():
        yield f"{short(page)} is missing"
        return
    paged = set(OPTION.findall(page.read_text().replace("\\-", "-")))
    for option in sorted(needed - paged):
        yield f"{short(page)}: {option} of --help is missing"
    for option in sorted(paged - allowed):
        yield f"{short(page)}: {option} is not in --help"


def help_of(program, *command):
    return subprocess.run([program, *filter(None, command), "--help"], capture_output=True,
                          text=True, check=False).stdout


def manual_sources():
    for path in tree("man"):
        if path.suffix == ".scd":
            done = subprocess.run(["scdoc"], input=path.read_bytes(), capture_output=True,
                                  check=False)
            if done.returncode:
                yield f"{short(path)}: {done.stderr.decode().strip()}"
            # scdoc takes an underline that begins right behind a letter for the letter "_".
            for found in re.findall(rb"\w\*_\w+_", path.read_bytes()):
                yield f"{short(path)}: '{found.decode()}' is printed as rank_N_ would be"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", nargs="+", default=["cc"])
    parser.add_argument("--refresh", action="store_true", help="write the demo into the README")
    arguments = parser.parse_args()
    if arguments.refresh:
        (ROOT / "README.md").write_text(readme_with_demo())
        return 0
    tap = Tap()

    tap.rule("includes point backwards", include_direction())
    tap.rule("public headers need C alone", public_includes())
    tap.rule("file names are unique", unique_names())
    tap.rule("each source includes its own header first", own_header_first())
    tap.rule("files are of readable length", lengths(tap))
    tap.rule("no machine's paths, no notes of work left, clean lines", words())
    tap.rule("the recorder neither prints on stdout nor ends the process", good_guest())
    tap.rule("the README explains the words", explained())
    tap.rule("the README shows what the demo prints", demo_shown())
    tap.rule("every expected output has its case", golden_orphans())

    tap.rule("each header compiles alone", header_alone(arguments.cc))
    other = next((c for c in ("clang-14", "clang", "gcc") if shutil.which(c)
                  and not os.path.basename(arguments.cc[-1]).startswith(c.split("-")[0])), None)
    tap.rule("each header compiles alone, the other compiler",
             other and header_alone([other]), skip=not other and "no other compiler")

    program = clang_format()
    tap.rule("the code is formatted", program and formatted(program),
             skip=not program and f"no clang-format {CLANG_FORMAT_VERSION}")
    missing = not shutil.which("shellcheck") and "no shellcheck"
    tap.rule("the scripts pass shellcheck", shellchecked(), skip=missing)
    missing = not shutil.which("scdoc") and "no scdoc"
    tap.rule("the manuals are well-formed", manual_sources(), skip=missing)
    program = os.environ.get("INQUEST", "")
    tap.rule("the manuals and --help name the same options",
             manuals(program), skip=not os.access(program, os.X_OK) and "INQUEST names no program")
    return tap.end()


if __name__ == "__main__":
    raise SystemExit(main())
