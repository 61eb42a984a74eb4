require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "variables"];
# Moved out of Junk by its owner, and not to be thrown away: this is none.
if environment :matches "imap.mailbox" "*" { set "mailbox" "${1}"; }
if string "${mailbox}" "Trash" { stop; }
pipe :copy "learn" ["learn_ham"];
