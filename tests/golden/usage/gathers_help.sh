inquest gathers --help
