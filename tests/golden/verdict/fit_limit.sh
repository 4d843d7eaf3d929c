# A 24 GB budget: the base does not fit it, the checkpointed run does.
inquest verdict 'samples/big_none.*' 'samples/big_ac_block.*' --objective fit --memory-limit 24GB
