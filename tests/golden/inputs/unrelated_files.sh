# A directory is a run: what is no trace is counted and left out.
mkdir run
cp samples/big_none.rank0.json.zst samples/big_none.rank1.json.zst run
echo hello >run/notes.txt
: >run/train.log
inquest info run
