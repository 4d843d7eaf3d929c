inquest breakdown 'samples/big_none.*' --path-from 7
