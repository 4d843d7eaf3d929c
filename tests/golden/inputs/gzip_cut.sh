zstd -dcq samples/big_none.rank0.json.zst 2>/dev/null | gzip -1n | head -c 100000 >cut.json.gz
inquest info cut.json.gz
