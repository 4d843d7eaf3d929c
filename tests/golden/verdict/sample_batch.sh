inquest verdict 'samples/big_none.*' 'samples/big_ac_block.*' 'samples/big_ac_block_mb4.*' \
	--objective batch
