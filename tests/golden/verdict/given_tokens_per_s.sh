inquest verdict 'samples/big_none.*' 'samples/big_ac_block.*' --objective throughput \
	--tokens-per-s base=123451 --tokens-per-s checkpointed=102496
