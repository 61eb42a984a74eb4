-- Mail that is passed on to the outside is followed too: what aliases and mailboxes lead there (`inbound`), and what
-- Dovecot hands in (`reinjection`).
ALTER TABLE queued_mail
    DROP CONSTRAINT queued_mail_origin,
    ADD CONSTRAINT queued_mail_origin CHECK (origin IN ('api', 'submission', 'inbound', 'reinjection')),
    ADD COLUMN passed_on jsonb NOT NULL DEFAULT '{}';                               -- domain's name: its row in messages
