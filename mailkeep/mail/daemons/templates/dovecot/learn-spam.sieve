require ["vnd.dovecot.pipe", "copy", "imapsieve"];
# Moved to Junk by its owner: this is spam.
pipe :copy "learn" ["learn_spam"];
