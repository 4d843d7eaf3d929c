#!/bin/sh
# Builds inquest, its recorder and its manuals, and asks it: checkpointing was meant to raise throughput; did it?
# base has no checkpointing, checkpointed has it, spent uses the memory it freed.
set -eu

cd "$(dirname "$0")/.."
sh tests/setup.sh build
if [ ! -e build/build.ninja ]; then
	mkdir -p build
	meson setup build >build/build.log 2>&1 || { cat build/build.log; exit 1; }
fi
ninja -C build program >build/build.log 2>&1 || { cat build/build.log; exit 1; }

# Here "failed" is the right answer, so 1 is no mishap: inquest-verdict(1), EXIT STATUS.
ask() {
	code=0
	build/src/cli/inquest verdict "$@" --objective throughput || code=$?
	[ "$code" -le 1 ]
}

echo "\$ build/src/cli/inquest verdict samples/recorded/big_none samples/recorded/big_ac_block \\
    samples/recorded/big_ac_block_mb4 --objective throughput"
ask samples/recorded/big_none samples/recorded/big_ac_block samples/recorded/big_ac_block_mb4

echo
echo "\$ # the same configurations as torch.profiler traces, two steps each; the answer alone"
echo "\$ build/src/cli/inquest verdict 'samples/big_none.*' 'samples/big_ac_block.*' \\
    'samples/big_ac_block_mb4.*' --objective throughput"
ask 'samples/big_none.*' 'samples/big_ac_block.*' 'samples/big_ac_block_mb4.*' >build/demo.txt
sed '/^$/q' build/demo.txt
