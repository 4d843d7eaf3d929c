inquest verdict --speed samples/big_none.rank*
