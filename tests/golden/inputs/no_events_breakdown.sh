echo '{"traceEvents": []}' >none.json
inquest breakdown none.json
