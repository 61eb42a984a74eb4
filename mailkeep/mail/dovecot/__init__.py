"""What Dovecot speaks: its auth policy and dict protocols, and mailbox counts by doveadm."""
