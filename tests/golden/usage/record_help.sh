inquest record --help
