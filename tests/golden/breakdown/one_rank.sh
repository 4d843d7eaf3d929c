inquest breakdown samples/big_none.rank1.json.zst
