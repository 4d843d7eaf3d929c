# The file's name is longer than that of what it was imported from: both are whole.
inquest import samples/recorded/big_none -o kept >names
inquest info kept
