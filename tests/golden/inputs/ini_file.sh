# It begins as a JSON list does, and is none.
printf '[main]\nkey = 1\n[other]\n' >settings.ini
inquest info settings.ini
