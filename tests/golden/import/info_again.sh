inquest import 'samples/big_none.*' -o kept
inquest info 'kept/*'
