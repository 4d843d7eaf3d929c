#!/bin/sh
# Installs the Debian packages that building and testing need, and nothing when all are there.
# Usage: sh tests/setup.sh [build|test]; "build" leaves out what only the tests need.
# Not root: prints the line to run, exit 2.
set -eu

want=${1:-test}
build='gcc g++ libc6-dev meson ninja-build pkg-config libsqlite3-dev libzstd-dev libpcre2-dev
	libjansson-dev libsmartcols-dev libxxhash-dev zlib1g-dev libcmocka-dev scdoc'
test='clang-14 libclang-rt-14-dev clang-format-14 python3 python3-jsonschema shellcheck
	sqlite3 zstd'

case $want in
build) packages=$build ;;
test) packages="$build $test" ;;
*)
	echo "setup.sh: '$want' is neither 'build' nor 'test'" >&2
	exit 2
	;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "setup.sh: no Debian here; install by your own means what tests/setup.sh lists" >&2
	exit 0
fi

# Which of the given packages are not installed.  One query: it takes milliseconds.
missing_of() {
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^installed //p' >"$installed"
	for package in "$@"; do
		grep -qxF "$package" "$installed" || echo "$package"
	done
}
installed=$(mktemp)
trap 'rm -f "$installed"' EXIT

# Whether apt's lists know an installable version of all of the given packages.
known() {
	count=$(apt-cache policy "$@" 2>/dev/null | grep -c '^  Candidate: [^(]')
	[ "$count" -eq $# ]
}

# shellcheck disable=SC2086 # a list of words
missing=$(missing_of $packages | tr '\n' ' ')
update=
# shellcheck disable=SC2086
if [ -n "$missing" ] && ! known $missing; then
	update=yes
	[ "$(id -u)" -ne 0 ] || apt-get update -qq
fi
# isa-l inflates faster than zlib, but Debian has it for some architectures only.
if [ -n "$(missing_of libisal-dev)" ] && known libisal-dev; then
	missing="${missing}libisal-dev"
fi
if [ -z "$missing" ]; then
	exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "setup.sh: packages are missing; as root: ${update:+apt-get update && }apt-get install -y --no-install-recommends $missing" >&2
	exit 2
fi
echo "setup.sh: installing $missing"
# shellcheck disable=SC2086
if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $missing </dev/null >/dev/null; then
	# The lists may be older than what the mirror holds.
	apt-get update -qq
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends $missing </dev/null >/dev/null
fi
