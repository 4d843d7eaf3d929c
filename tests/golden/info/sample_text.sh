inquest info 'samples/big_none.*' --format text
