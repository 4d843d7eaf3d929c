inquest import 'samples/big_none.*' -o kept --format markdown | sed 's/[0-9.]* [KM]iB/SIZE/'
