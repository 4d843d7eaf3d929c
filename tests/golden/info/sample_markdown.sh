inquest info 'samples/big_none.*' --format markdown
