printf 'PK\003\004\024\0' >trace.zip
inquest info trace.zip
