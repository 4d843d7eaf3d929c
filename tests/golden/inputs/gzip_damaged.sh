printf '\037\213\010\0\0\0\0\0\0\003garbage garbage' >bad.json.gz
inquest info bad.json.gz
