#!/bin/sh
# Records configurations of the workload with `inquest record`, two ranks and a folder each: how
# samples/recorded was made, with STEPS 18:25, out of the steps that run back to back.
# Usage: sh tests/collect/gpu/record.sh INQUEST LAB OUT STEPS CONFIGS NAME...
#   INQUEST  the program; on a machine without our libraries the one of tests/collect/bundle.sh
#   LAB      the workload, fsdp_lab.py
#   OUT      the folder to make: OUT/NAME/rank0.inq.zst, OUT/NAME/rank1.inq.zst
#   CONFIGS  a file of JSON lines as the workload takes them; each NAME is the "name" of one
set -eu

if [ $# -lt 6 ]; then
	echo "usage: record.sh INQUEST LAB OUT STEPS CONFIGS NAME..." >&2
	exit 2
fi
inquest=$1 lab=$2 out=$3 steps=$4 configs=$5
shift 5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"

for name; do
	# The workload's own profiler stays off.
	python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8") if line.strip()]
wanted = [line for line in lines if line["name"] == sys.argv[2]]
if not wanted:
    sys.exit(f"record.sh: no configuration is named {sys.argv[2]!r}")
print(json.dumps({**wanted[0], "profile": False}))' "$configs" "$name" >"$scratch/config.jsonl"
	case $name in
	slow*) channels=NCCL_MAX_NCHANNELS=2 ;; # a slower network
	*) channels= ;;
	esac
	env $channels "$inquest" record -o "$out/$name" --compress --steps "$steps" -- \
		torchrun --nproc-per-node 2 "$lab" "$scratch/timed" "$scratch/config.jsonl"
done
