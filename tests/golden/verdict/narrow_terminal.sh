COLUMNS=60 inquest verdict 'samples/big_none.*' 'samples/big_ac_block.*' --objective memory
