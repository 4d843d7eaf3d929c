# A directory where a file belongs.
mkdir -p run/trace.json
inquest info run/trace.json
