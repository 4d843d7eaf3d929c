inquest breakdown --help
