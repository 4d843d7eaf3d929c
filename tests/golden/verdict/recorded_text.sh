inquest verdict samples/recorded/big_none samples/recorded/big_ac_block \
	samples/recorded/big_ac_block_mb4 --objective throughput --format text
