inquest breakdown 'samples/big_none.*' --rules nowhere.rules
