require ["fileinto", "mailbox", "duplicate"];
# A delivery that is tried again after a crash has its first copy here already: the agent gives each its id.
if duplicate :header "X-Mailkeep-Delivery" :handle "mailkeep" :seconds 604800 { discard; stop; }
# The filter's own word: it strips what others put there.
if header :is "X-Spam" "Yes" { fileinto :create "Junk"; stop; }
