"""The history of mail as it is shown: lists and searches, the timeline of a message, its content.

Lists are ordered by age. A list is *walked*: the newest rows that an index gives in order, until the page is full.
Direction, status, domain, mailbox, tag and times are such orders, alone and (but for mailbox and tag) together.
`from`, `to`, `subject` (parts of words, folded, in any script) and `q` (words, each in any of these) are looked for
in the first rows of that walk; what is found often fills its page there, at a cost that does not grow with the
history. What is found seldom is then taken from the trigram index, whose cost grows with the number of hits alone.
Searches for fewer than three characters can't use it and walk on.

A timeline begins with the submission and the acceptance (or the arrival), and has every try to deliver.

Content is shown while it is kept; that of received mail only to `admin` and above, which is recorded.
"""
