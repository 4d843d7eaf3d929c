inquest import 'samples/big_none.*'
