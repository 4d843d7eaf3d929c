# Shapes and memory events are not missed where the hook's marks say as much.
inquest info samples/recorded/big_none
