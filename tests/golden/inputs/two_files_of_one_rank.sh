# The error names both.
mkdir run
cp samples/big_none.rank0.json.zst run/a.json.zst
cp samples/big_none.rank0.json.zst run/b.json.zst
inquest breakdown run
