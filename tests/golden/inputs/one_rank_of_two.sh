inquest info samples/big_none.rank0.json.zst
