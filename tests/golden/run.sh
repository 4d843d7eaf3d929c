#!/bin/sh
# What the command prints, word for word.  A case is TOPIC/CASE.sh beside this script; what it must
# print and return stands in CASE.stdout, CASE.stderr (no file: nothing) and CASE.exit (no file: 0).
# Usage: INQUEST=path/to/inquest sh tests/golden/run.sh [--refresh] [TOPIC...]
# Prints TAP.  --refresh writes those files from what happens now: read the diff before a commit.
#
# A case runs in a folder that holds nothing but `samples`; `inquest` is on its PATH.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
refresh=
if [ "${1-}" = --refresh ]; then
	refresh=yes
	shift
fi
if [ ! -x "${INQUEST:?names the program to run}" ]; then
	echo "1..0"
	echo "golden/run.sh: '$INQUEST' is no program; build first" >&2
	exit 1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$INQUEST" "$scratch/bin/inquest"
export PATH="$scratch/bin:$PATH" LC_ALL=C.UTF-8 TZ=UTC TERM=dumb
unset COLUMNS NO_COLOR CLICOLOR_FORCE 2>/dev/null || true

if [ $# -eq 0 ]; then
	set -- "$here"/*/
else
	for topic in "$@"; do
		shift
		set -- "$@" "$here/$topic/"
	done
fi
count=0
for folder in "$@"; do
	for case in "$folder"*.sh; do
		[ -e "$case" ] && count=$((count + 1))
	done
done
echo "1..$count"

# same ENDING: compares what came with what is kept, says how they differ.
same() {
	kept=$stem.$1
	[ -e "$kept" ] || kept=$scratch/nothing
	diff -u "$kept" "$scratch/got.$1" >"$scratch/diff" 2>&1 && return 0
	sed -e "1s|.*|$1: expected (-), printed (+)|" -e 2d -e 40q -e 's/^/# /' "$scratch/diff"
	return 1
}

# keep ENDING: writes what came, or removes the file where there is nothing to say.
keep() {
	if [ -s "$scratch/got.$1" ]; then
		cp "$scratch/got.$1" "$stem.$1"
	else
		rm -f "$stem.$1"
	fi
}

: >"$scratch/nothing"
number=0
failed=0
for folder in "$@"; do
	for case in "$folder"*.sh; do
		[ -e "$case" ] || continue
		number=$((number + 1))
		stem=${case%.sh}
		name=${stem#"$here/"}
		work=$scratch/work
		mkdir "$work"
		ln -s "$root/samples" "$work/samples"
		code=0
		(cd "$work" && sh "$case") >"$scratch/got.stdout" 2>"$scratch/got.stderr" </dev/null ||
			code=$?
		rm -rf "$work"
		: >"$scratch/got.exit"
		[ "$code" -eq 0 ] || echo "$code" >"$scratch/got.exit"
		if [ -n "$refresh" ]; then
			for ending in stdout stderr exit; do keep "$ending"; done
			echo "ok $number - $name (written)"
			continue
		fi
		told=$(for ending in exit stderr stdout; do same "$ending" || :; done)
		if [ -z "$told" ]; then
			echo "ok $number - $name"
		else
			failed=$((failed + 1))
			echo "not ok $number - $name"
			printf '%s\n' "$told"
		fi
	done
done
[ "$failed" -eq 0 ]
