# The training log's numbers decide; the traced split stands beside them.
inquest verdict 'samples/big_none.*' 'samples/big_ac_block.*' --objective throughput \
	--step-time base=132.72 --step-time checkpointed=159.86
