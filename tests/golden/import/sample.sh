inquest import 'samples/big_none.*' -o kept
ls kept
sqlite3 kept/*rank0*.inq 'PRAGMA application_id; PRAGMA user_version; PRAGMA journal_mode'
