inquest info 'nowhere/*.json'
