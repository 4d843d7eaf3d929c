# 20 would be 20 bytes, which nobody means.
inquest verdict none ac --objective fit --memory-limit 20
