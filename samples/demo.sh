#!/bin/sh
# Builds inquest and asks it: checkpointing was meant to raise throughput; did it?
# base has no checkpointing, checkpointed has it, spent uses the memory it freed.
set -eu

cd "$(dirname "$0")/.."
sh tests/setup.sh build
if [ ! -e build/build.ninja ]; then
	mkdir -p build
	meson setup build >build/build.log 2>&1 || { cat build/build.log; exit 1; }
fi
ninja -C build src/cli/inquest >build/build.log 2>&1 || { cat build/build.log; exit 1; }

set -- verdict 'samples/big_none.*' 'samples/big_ac_block.*' 'samples/big_ac_block_mb4.*' \
	--objective throughput
echo "\$ build/src/cli/inquest $1 '$2' '$3' '$4' $5 $6"
code=0
build/src/cli/inquest "$@" || code=$?
# Here "failed" is the right answer, so 1 is no mishap: inquest-verdict(1), EXIT STATUS.
[ "$code" -le 1 ]
