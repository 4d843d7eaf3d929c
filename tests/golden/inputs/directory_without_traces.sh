mkdir run
echo hello >run/notes.txt
inquest info run
