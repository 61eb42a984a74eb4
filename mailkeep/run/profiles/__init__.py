"""What `mailkeep up` starts: the embedded profile and the full profile."""
