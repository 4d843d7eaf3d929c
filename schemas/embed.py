"""Turns a text file into a C string: embed.py INPUT OUTPUT NAME.

The program carries its schema and its rules, so that one binary is enough; the files beside it are
the readable truth.
"""
import sys

source, target, name = sys.argv[1:4]
escapes = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "?": "\\?"}
with open(source, encoding="utf-8") as text, open(target, "w", encoding="utf-8") as out:
    out.write(f'extern const char {name}[];\nconst char {name}[] =\n')
    for line in text:
        escaped = "".join(escapes.get(c, c) for c in line.rstrip("\n"))
        out.write(f'\t"{escaped}\\n"\n')
    out.write(";\n")
