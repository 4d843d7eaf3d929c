inquest info 'samples/big_none.*' >/dev/full
