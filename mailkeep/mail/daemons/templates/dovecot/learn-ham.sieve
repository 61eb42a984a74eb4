require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "vnd.dovecot.imapsieve", "vnd.dovecot.environment", "variables"];
# Moved by its owner out of Junk, but not to be deleted (the last two are the names that Outlook and Apple Mail use): this
# is not spam.
if environment :matches "vnd.dovecot.mailbox-to" ["Junk", "Junk/*", "Trash", "Trash/*", "Deleted Items", "Deleted Messages"] { stop; }
if environment :matches "vnd.dovecot.config.mailbox" "*-*" { set "mailbox" "${0}"; }
# A failure is only logged: the mail is moved.
pipe :copy :try "learn" ["ham", "${mailbox}"];
