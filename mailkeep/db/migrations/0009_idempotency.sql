-- What was asked with an Idempotency-Key, held for 24 hours; `status` and `answer` once it is answered.
CREATE TABLE idempotency_keys (
    caller_id  uuid NOT NULL,                                                       -- the API key, or the admin
    route      text NOT NULL,
    key        text NOT NULL,
    body_hash  bytea NOT NULL,
    request_id uuid NOT NULL,
    process    uuid NOT NULL,
    claimed_at timestamptz NOT NULL,
    status     integer,
    answer     bytea,
    PRIMARY KEY (caller_id, route, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (claimed_at);

-- The request that a message was sent with, and its place in it, so that its outcome is found again.
ALTER TABLE messages ADD COLUMN request_id uuid, ADD COLUMN batch_index integer;
CREATE INDEX messages_by_request ON messages (request_id) WHERE request_id IS NOT NULL;
