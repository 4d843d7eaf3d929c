# As --no-python leaves it: nothing marks tokens and peaks.
zstd -dcq samples/recorded/big_none/rank0.inq.zst >rank0.inq
sqlite3 rank0.inq 'DELETE FROM marker'
inquest info rank0.inq
