inquest import --help
