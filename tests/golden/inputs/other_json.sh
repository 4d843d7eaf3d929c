echo '{"loss": [3.1, 2.9], "lr": 0.1}' >metrics.json
inquest info metrics.json
