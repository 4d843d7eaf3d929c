mkdir run
inquest info run
