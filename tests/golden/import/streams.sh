inquest import 'samples/big_ac_block.*' -o kept
sqlite3 -header kept/*rank0*.inq 'SELECT * FROM streams'
