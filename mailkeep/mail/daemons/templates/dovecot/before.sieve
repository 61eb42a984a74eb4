require ["fileinto", "mailbox", "variables", "vnd.dovecot.execute"];
# Tried before, and nobody knows how that ended: the agent says so, and since when. It may have its first copy here.
if header :matches "X-Mailkeep-Delivery" "* since *" {
  if execute "delivered" ["${1}", "${2}"] { discard; stop; }
}
# The filter's own word: it strips what others put there.
if header :is "X-Spam" "Yes" { fileinto :create "Junk"; stop; }
