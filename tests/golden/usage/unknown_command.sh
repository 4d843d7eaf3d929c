inquest autopsy samples
