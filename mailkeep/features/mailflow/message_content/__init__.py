"""The content of a message as its reader sees it: header, text, HTML, attachments.

Of every message of the history whose content is kept, and of those that wait for their time. The rights are those of
`/messages/{id}/raw`: received mail is for `admin` and above, not for keys that only read, and each access is recorded
in the audit log.

A child process with limits parses the message (`mail/message/parse_process`). HTML is returned as it is, with the
images of the message in it. Its policy, and the frame that shows it, run no scripts and load nothing. Attachments are
downloads, never a page of this server.
"""
