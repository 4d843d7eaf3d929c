inquest breakdown 'samples/big_ac_block.*' --format json
