inquest --help
