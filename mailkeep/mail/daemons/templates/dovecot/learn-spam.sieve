require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "vnd.dovecot.imapsieve", "vnd.dovecot.environment", "variables"];
# Moved by its owner to Junk or a folder below it, from elsewhere: this is spam.
if environment :matches "vnd.dovecot.mailbox-from" ["Junk", "Junk/*"] { stop; }
if environment :matches "vnd.dovecot.config.mailbox" "*-*" { set "mailbox" "${0}"; }
# A failure is only logged: the mail is moved.
pipe :copy :try "learn" ["spam", "${mailbox}"];
