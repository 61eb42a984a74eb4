-- Mail that an alias or a mailbox passes on to the outside, until the MTA has taken it. The content lies in a file
-- named by the queue id.
CREATE TABLE forwards (
    queue_id        text NOT NULL,
    recipient       text NOT NULL,
    mail_from       text NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (queue_id, recipient)
);
CREATE INDEX forwards_due ON forwards (next_attempt_at);
