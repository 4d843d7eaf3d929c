inquest info nowhere.json
