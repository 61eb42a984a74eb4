"""Sign-in protection for IMAP, POP3, ManageSieve and submission (Postfix), through Dovecot's auth policy protocol.

Before Dovecot verifies a password it asks, and `access/sign_in_protection` decides. After a right password the attempt
is uncounted, and its source becomes known to the mailbox. A valid app password always proceeds: it can't be guessed, so
failures of others do not matter. So does a valid API key (user `apikey`, submission only), without being counted; wrong
ones count per address, because they belong to no account. So does the probe. Names that are no address are refused: no
mailbox has one.

If the database does not answer within a second, logins proceed; if this process does not answer, Dovecot proceeds after
5 seconds. Such attempts are not counted. Dovecot's limit is that long because it verifies passwords in the process that
waits for the answer: with a shorter one, a flood of logins would end the limit on guesses.
"""
