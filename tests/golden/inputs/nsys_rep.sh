# Nsight's own file: the answer names the command that exports it.
printf 'NSYSREP\0\0\0' >report1.nsys-rep
inquest info report1.nsys-rep
