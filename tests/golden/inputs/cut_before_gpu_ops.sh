# What the file holds ends before the first GPU op: the refusal says so.
zstd -dcq samples/big_none.rank0.json.zst 2>/dev/null | head -c 20000 >cut.json
inquest breakdown cut.json
