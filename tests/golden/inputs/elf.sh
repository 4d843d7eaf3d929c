printf '\177ELF\002\001\001' >program.json
inquest info program.json
