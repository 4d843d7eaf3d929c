inquest import samples/big_none.rank0.json.zst -o /dev/null/kept
