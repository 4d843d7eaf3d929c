inquest verdict 'samples/big_none.*' 'samples/big_ac_block.*' --objective throughput \
	--tokens base=16384 --tokens checkpointed=16384
