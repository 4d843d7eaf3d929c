inquest import 'samples/big_none.*' -o kept --format json | sed 's/"bytes": [1-9][0-9]*/"bytes": SIZE/'
