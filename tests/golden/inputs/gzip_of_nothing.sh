: | gzip -n >nothing.json.gz
inquest info nothing.json.gz
