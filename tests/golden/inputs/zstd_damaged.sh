printf '\050\265\057\375garbage garbage' >bad.json.zst
inquest info bad.json.zst
