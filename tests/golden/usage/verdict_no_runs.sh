inquest verdict
