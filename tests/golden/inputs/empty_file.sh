: >empty.json
inquest info empty.json
