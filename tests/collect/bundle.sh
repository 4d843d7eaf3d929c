#!/bin/sh
# Makes a folder that runs `inquest`, recorder included, on a machine without our libraries:
#   FOLDER/bin/inquest  FOLDER/lib/inquest/{libinquest-collect.so,hook/*.py,*.so.*}
# The program finds its libraries by an $ORIGIN run path and never through LD_LIBRARY_PATH, which
# the training would inherit.  libc and what belongs to it stay the machine's own.
# Usage: sh tests/collect/bundle.sh BUILD FOLDER
set -eu

if [ $# -ne 2 ] || [ ! -e "$1/build.ninja" ]; then
	echo "usage: bundle.sh BUILD FOLDER, where BUILD was made by meson" >&2
	exit 2
fi
build=$1 folder=$2
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

# Installing is what gives the program its run path.
DESTDIR=$stage meson install -C "$build" --no-rebuild --quiet >/dev/null
program=$(find "$stage" -path '*/bin/inquest' -type f)
parts=$(find "$stage" -path '*/inquest/libinquest-collect.so' -type f)
if [ -z "$program" ] || [ -z "$parts" ]; then
	echo "bundle.sh: $build installs no inquest, or no libinquest-collect.so" >&2
	exit 1
fi
rm -rf "${folder:?}/bin" "${folder:?}/lib"
mkdir -p "$folder/bin" "$folder/lib/inquest"
cp "$program" "$folder/bin/inquest"
cp -R "$(dirname "$parts")/." "$folder/lib/inquest/"

# "libx.so.1 => PATH (0x...)": all but the C library's own.
ldd "$folder/bin/inquest" | sed -n 's/^[[:blank:]]*\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' |
	while read -r name path; do
		case $name in
		libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) ;;
		*) cp -L "$path" "$folder/lib/inquest/$name" ;;
		esac
	done

# Every library must come out of the folder now.
strays=$(ldd "$folder/bin/inquest" | grep '=> /' | grep -v "=> $(cd "$folder" && pwd)" |
	grep -Ev 'lib(c|m|dl|pthread|rt)\.so' || true)
if [ -n "$strays" ]; then
	echo "bundle.sh: these would be looked for on the machine: $strays" >&2
	exit 1
fi
"$folder/bin/inquest" --version
