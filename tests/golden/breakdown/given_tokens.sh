inquest breakdown 'samples/big_none.*' --tokens 16384
