printf '\211PNG\r\n\032\n\0\0\0\rIHDR' >picture.json
inquest info picture.json
