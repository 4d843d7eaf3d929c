inquest gathers 'samples/big_ac_block.*' --format markdown
