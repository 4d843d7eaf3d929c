# What can't be written is seen before anything is.
mkdir kept
echo mine >kept/big_none.rank1.inq
inquest import 'samples/big_none.*' -o kept
code=$?
ls kept
exit $code
