echo '{"traceEvents": []}' >none.json
inquest info none.json
