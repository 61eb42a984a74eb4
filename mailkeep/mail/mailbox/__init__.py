"""Where mail of a mailbox is stored: its home folder and the Maildir in it."""
