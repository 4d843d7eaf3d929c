# A recording has them in marks, a trace in its allocator's events; the columns are the same.
inquest import samples/recorded/big_none -o recorded >names
inquest import 'samples/big_none.*' -o traced >names
sqlite3 -header recorded/big_none.rank0.inq 'SELECT * FROM memory_peaks'
sqlite3 -header recorded/big_none.rank1.inq 'SELECT * FROM memory_peaks'
sqlite3 -header traced/big_none.rank0.inq 'SELECT * FROM memory_peaks'
