require ["fileinto", "mailbox", "variables", "vnd.dovecot.execute"];
# The lmtp agent adds this field, with the time, if an earlier attempt has an unknown outcome: a copy may be here.
if header :matches "X-Mailkeep-Delivery" "* since *" {
  if execute "delivered" ["${1}", "${2}"] { discard; stop; }
}
# The lmtp agent sets this field, and removes it from incoming mail. The scripts after this one do not run then: spam causes
# no vacation replies and redirects.
if header :is "X-Spam" "Yes" { fileinto :create "Junk"; stop; }
