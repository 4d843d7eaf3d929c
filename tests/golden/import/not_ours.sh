# A file that another program wrote is never replaced.
mkdir kept
echo mine >kept/big_none.rank0.inq
inquest import 'samples/big_none.*' -o kept
code=$?
cat kept/*
exit $code
