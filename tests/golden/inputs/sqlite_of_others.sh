sqlite3 other.sqlite 'CREATE TABLE t(a); INSERT INTO t VALUES (1)'
inquest info other.sqlite
