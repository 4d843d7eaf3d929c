echo "the run got slower" >notes.txt
inquest info notes.txt
