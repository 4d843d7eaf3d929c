inquest gathers 'samples/big_none.*' 'samples/big_ac_block.*'
