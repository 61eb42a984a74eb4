"""What administrators manage: domains, their DNS records and DKIM keys, mailboxes, aliases, and routing over them."""
