"""Templates: subject, text and HTML of messages with variables, written once and sent by `template_id`.

A template belongs to a domain, and then only its senders use it, or to none: then all do. It has a draft and published
versions. PATCH edits the draft; `version` is the draft's number, which grows with the first edit after a publication.
Publishing makes the draft (or an older version again) what messages are sent with. A version never changes.

Variables are declared, with dotted names (`order.id`). A declaration covers what is below it. A required one must be
given; an optional one may be missing and is empty then. A draft may use undeclared variables (`warnings`); it can't be
published with them (`undeclared_variables`), because every message would fail that does not happen to have them.

Rendering is in `mail/templates`: Jinja2's sandbox in a process of its own. A missing variable is INVALID_FIELD
`variables.NAME`; everything else that prevents rendering is INVALID_FIELD of the part (`html_body`) or, for a message,
of `template_id`. Without `text_body` the text is derived from the HTML. `inline_css` moves style sheets into style
attributes; nothing is loaded.

Domain administrators read and use the templates of their domains and those of no domain; admins write. A key that is
limited to domains does not write templates of no domain. Templates are deleted with their domain. A scheduled message
is rendered when it is accepted, so later changes and deletions do not affect it.
"""
