head -c 100000 samples/big_none.rank0.json.zst >cut.json.zst
inquest info cut.json.zst
