#!/bin/sh
# Builds everything and runs every test.  The last line printed is "N passed, N failed"; before it
# stands how many were skipped where the shared traces or a tool were not there.
# Usage: sh tests/run.sh [-v] [--quick] [--refresh]
#   -v         print every check, not only those that failed
#   --quick    only the first of the four builds
#   --refresh  write what the program prints now into tests/golden and the README, and stop
# INQUEST_SHARED names the folder with the recorded traces; without it, "shared" beside the sources.
set -eu

cd "$(dirname "$0")/.."
root=$(pwd)
verbose='' quick='' refresh=''
for argument in "$@"; do
	case $argument in
	-v) verbose=-v ;;
	--quick) quick=yes ;;
	--refresh) refresh=yes ;;
	*)
		echo "run.sh: '$argument' is none of -v, --quick, --refresh" >&2
		exit 2
		;;
	esac
done

sh tests/setup.sh test
export INQUEST_SHARED="${INQUEST_SHARED:-$root/../shared}"
export LC_ALL=C.UTF-8
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

# build FOLDER COMPILER MESON-OPTION...: says only what went wrong.
build() {
	folder=$1 compiler=$2
	shift 2
	log=$folder/build.log
	mkdir -p "$folder"
	if { [ -e "$folder/build.ninja" ] || CC=$compiler meson setup "$folder" "$@"; } >"$log" 2>&1 &&
		ninja -C "$folder" >>"$log" 2>&1; then
		return 0
	fi
	grep -v '^\[[0-9]*/[0-9]*\] [A-Z]' "$log" | tail -n 60
	echo "run.sh: the build in $folder failed"
	return 1
}

# check FOLDER MESON-TEST-OPTION...: the results are read from meson's log.
check() {
	folder=$1
	shift
	rm -f "$folder/meson-logs/testlog.json"
	meson test -C "$folder" --no-rebuild -t 20 "$@" >"$folder/tests.log" 2>&1 || true
	logs="$logs $folder/meson-logs/testlog.json"
}

logs=
broken=
if build build gcc; then
	if [ -n "$refresh" ]; then
		INQUEST=$root/build/src/cli/inquest sh tests/golden/run.sh --refresh
		exec python3 tests/house/house.py --refresh
	fi
	check build
else
	broken="$broken build"
fi
if [ -z "$quick$refresh" ]; then
	# The sanitizers look at our code on hostile input; the laws' numbers are the same there.
	if build build-sanitize clang-14 -Db_sanitize=address,undefined -Db_lundef=false \
		-Doptimization=1; then
		check build-sanitize --no-suite house --no-suite laws
	else
		broken="$broken build-sanitize"
	fi
	# The recorder runs inside other programs, and the reader in threads: no data race.
	if build build-thread gcc -Db_sanitize=thread -Db_lundef=false -Doptimization=1; then
		check build-thread --suite collect --suite unit
	else
		broken="$broken build-thread"
	fi
	# Without assert(): what must hold in every build is seen to hold here.
	if build build-release gcc --buildtype=release -Db_ndebug=true; then
		check build-release --suite golden --suite fuzz
	else
		broken="$broken build-release"
	fi
fi
# shellcheck disable=SC2086 # lists of words
exec python3 tests/count.py $verbose $logs ${broken:+--broken $broken}
