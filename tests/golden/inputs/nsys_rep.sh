# Nsight's own file: the answer names what to record with instead.
printf 'NSYSREP\0\0\0' >report1.nsys-rep
inquest info report1.nsys-rep
