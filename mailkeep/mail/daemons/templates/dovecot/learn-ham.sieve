require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "variables"];
# Moved out of Junk by its owner, but not to Trash: this is not spam.
if environment :matches "imap.mailbox" "*" { set "mailbox" "${1}"; }
if string "${mailbox}" "Trash" { stop; }
pipe :copy "learn" ["learn_ham"];
