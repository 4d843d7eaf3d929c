inquest
