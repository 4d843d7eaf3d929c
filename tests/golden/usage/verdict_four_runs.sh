inquest verdict a b c d
