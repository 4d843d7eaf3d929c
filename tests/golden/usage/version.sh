inquest --version
