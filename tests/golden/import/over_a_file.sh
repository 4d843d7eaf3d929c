# What is there is not overwritten by half a file: the write is atomic.
inquest import samples/big_none.rank0.json.zst -o kept
inquest import samples/big_none.rank0.json.zst -o kept
ls kept
