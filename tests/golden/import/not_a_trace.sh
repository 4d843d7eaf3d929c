echo hello >notes.txt
inquest import notes.txt -o kept
code=$?
ls
exit $code
