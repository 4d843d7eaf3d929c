zstd -dcq samples/big_none.rank0.json.zst 2>/dev/null | head -c 5000000 >cut.json
inquest info cut.json
