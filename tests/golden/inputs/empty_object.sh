echo "{}" >object.json
inquest info object.json
