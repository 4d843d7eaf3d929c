inquest info --help
