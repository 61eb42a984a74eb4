-- Lists of aliases are also sorted by their source.
CREATE INDEX aliases_by_source ON aliases (source_local_part, id);
CREATE INDEX aliases_by_domain_and_source ON aliases (domain_id, source_local_part, id);

-- The statuses of the recipients of messages whose recipients differ (status `partial`), so that the list of a status
-- finds these messages too, in order and at the same cost. Kept by a trigger.
CREATE TABLE message_statuses (
    status     text NOT NULL,
    message_id uuid NOT NULL,
    domain_id  uuid,
    PRIMARY KEY (status, message_id)
) PARTITION BY RANGE (message_id);
CREATE INDEX message_statuses_by_domain ON message_statuses (domain_id, status, message_id);
CREATE INDEX message_statuses_by_message ON message_statuses (message_id);
CREATE TABLE message_statuses_default PARTITION OF message_statuses DEFAULT;

CREATE OR REPLACE FUNCTION monthly_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY['messages', 'message_recipients', 'message_search', 'message_tags', 'message_statuses', 'message_attempts',
                 'events', 'audit_entries']
$$;

CREATE FUNCTION keep_message_statuses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM message_statuses s
     WHERE s.message_id = NEW.id
       AND (NEW.status <> 'partial' OR NOT EXISTS (
            SELECT FROM message_recipients r WHERE r.message_id = NEW.id AND r.status = s.status));
    IF NEW.status = 'partial' THEN
        INSERT INTO message_statuses (status, message_id, domain_id)
        SELECT DISTINCT r.status, NEW.id, NEW.domain_id FROM message_recipients r WHERE r.message_id = NEW.id
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER message_statuses_kept AFTER UPDATE OF status ON messages FOR EACH ROW
    WHEN (OLD.status = 'partial' OR NEW.status = 'partial') EXECUTE FUNCTION keep_message_statuses();

INSERT INTO message_statuses (status, message_id, domain_id)
SELECT DISTINCT r.status, m.id, m.domain_id
  FROM messages m JOIN message_recipients r ON r.message_id = m.id WHERE m.status = 'partial';
