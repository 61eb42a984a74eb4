"""The history of mail: lists and searches, the timeline of a message, its content.

Lists are ordered by age. A list is *walked*: rows are read in the order of an index until the page is full. Direction,
status, domain, mailbox, tag and times have such indexes, each alone and (except mailbox and tag) combined. `from`, `to`
and `subject` (substrings, case-folded, in any script) and `q` (words, each in any of the three) are first searched in
the first rows of that walk. A frequent term fills its page there, at a cost independent of the size of the history. A
rare term is then searched in the trigram index, whose cost depends on the number of hits. Terms shorter than three
characters can't use the index, so the walk continues.

A timeline begins with the submission and the acceptance (or the arrival) and has every delivery attempt.

The content of a message can be read while it is kept; that of received mail only by `admin` and above, and reading it
is recorded in the audit log.
"""
