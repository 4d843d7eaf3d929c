# The second rank does not fit: the first keeps what it was, and nothing half is left.
inquest import 'samples/big_none.*' -o kept >/dev/null
sqlite3 kept/big_none.rank0.inq "INSERT INTO meta VALUES ('mine', 1)"
cp samples/big_none.rank0.json.zst big_none.rank0.json.zst
cp samples/big_ac_block.rank1.json.zst big_none.rank1.json.zst
size=$(($(wc -c <kept/big_none.rank0.inq) / 512 + 20))
(
	ulimit -f $size
	inquest import 'big_none.rank*.zst' -o kept
)
code=$?
ls -A kept
sqlite3 kept/big_none.rank0.inq "SELECT value FROM meta WHERE key = 'mine'"
exit $code
