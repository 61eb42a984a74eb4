-- What mail.received.full tells beyond its row in the feed: once for each message, kept 3 days.

CREATE TABLE event_payloads (
    queue_id   text PRIMARY KEY,
    content    bytea NOT NULL,                                                      -- a JSON object
    created_at timestamptz NOT NULL
);
-- Mostly base64, which does not get much smaller.
ALTER TABLE event_payloads ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX event_payloads_by_age ON event_payloads (created_at);

-- Whether somebody wants the mail of p_domain_id told whole. p_always: the setting events.received_full.
CREATE FUNCTION wants_full(p_domain_id uuid, p_always boolean) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p_always AND p_domain_id IS NOT NULL
$$;
