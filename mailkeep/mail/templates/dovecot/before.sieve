require ["fileinto", "mailbox", "duplicate"];
# A delivery that is tried again after a crash has its first copy here already: the agent gives each its id. Each delivery
# reads and writes all ids that are remembered, so they are for no longer than a try and the next may be apart.
if duplicate :header "X-Mailkeep-Delivery" :handle "mailkeep" :seconds @@copies_seconds@@ { discard; stop; }
# The filter's own word: it strips what others put there.
if header :is "X-Spam" "Yes" { fileinto :create "Junk"; stop; }
