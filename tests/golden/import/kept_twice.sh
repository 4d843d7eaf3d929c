# Both files come from one, whose name the messages don't tell: it is these that must be sorted out.
inquest import samples/recorded/big_none -o kept >names
inquest import samples/recorded/big_none -o kept --compress >names
inquest breakdown kept
