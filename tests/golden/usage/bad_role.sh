inquest verdict 'samples/big_none.*' 'samples/big_ac_block.*' --step-time before=120
