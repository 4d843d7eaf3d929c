inquest info
