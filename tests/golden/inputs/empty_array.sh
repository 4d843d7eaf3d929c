echo "[]" >array.json
inquest info array.json
