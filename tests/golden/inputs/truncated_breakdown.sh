# It still answers, and says that data is missing.
zstd -dcq samples/big_none.rank0.json.zst 2>/dev/null | head -c 5000000 >cut.json
inquest breakdown cut.json
