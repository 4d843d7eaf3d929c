# The shell made two runs of one job's two files: exit 2.  So it does with a recording's.
inquest verdict samples/big_none.* --objective throughput
echo "exit $?"
inquest verdict samples/recorded/big_none/* --objective throughput
