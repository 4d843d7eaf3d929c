#!/bin/sh
# Looks for inputs that break a fuzz target: fuzz.sh NAME [SECONDS].  What it finds is left in the
# folder it prints; the smallest form of it belongs into corpus/NAME.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name=$1
seconds=${2:-60}
work=${TMPDIR:-/tmp}/inquest-fuzz
build=$work/build
mkdir -p "$work/$name"
[ -d "$build" ] || CC=clang meson setup "$build" "$here/../.." -Db_lundef=false \
	-Db_sanitize=address,undefined -Dc_args=-fsanitize=fuzzer-no-link >/dev/null
ninja -C "$build" libinquest.a >/dev/null
flags=$(pkg-config --cflags --libs jansson libzstd sqlite3 libpcre2-8 smartcols libxxhash)
inflate=$(pkg-config --libs libisal 2>/dev/null || echo -lz)
# shellcheck disable=SC2086
clang -g -O1 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-I"$here/../../src" "$here/fuzz_$name.c" "$build/libinquest.a" -o "$work/fuzz_$name" \
	$flags $inflate -lm -lpthread
echo "inputs in $work/$name"
cd "$work"
exec "./fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
	"$name" "$here/corpus/$name"
