inquest breakdown 'samples/big_none.*' --format yaml
