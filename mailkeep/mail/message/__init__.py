"""Messages (RFC 5322, MIME): composing, parsing, DKIM signing, SRS, storing."""
