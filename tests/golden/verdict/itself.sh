inquest verdict 'samples/big_none.*' 'samples/big_none.*' --objective throughput
