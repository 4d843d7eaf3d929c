# One rank's trace: its raw partition stands in for the job's path, and that is said.
inquest verdict samples/big_none.rank0.json.zst samples/big_ac_block.rank0.json.zst \
	--objective throughput
