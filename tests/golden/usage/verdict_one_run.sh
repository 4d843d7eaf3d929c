inquest verdict 'samples/big_none.*' --objective throughput
