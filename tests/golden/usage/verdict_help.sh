inquest verdict --help
