# One rank of each recipe, but not the same: answered, and said.
inquest verdict samples/big_none.rank0.json.zst samples/big_ac_block.rank1.json.zst |
	sed -n '/^Diagnostics/,$p'
