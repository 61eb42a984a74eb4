-- Since when a mailbox waits to be counted: what was told of it is a guess, or may be wrong; a later time where it is to be
-- tried again then. figures_counted_at stays the time of the last count (until now NULL also marked who was to be counted).
ALTER TABLE mailboxes ADD COLUMN figures_due_at timestamptz;
CREATE INDEX mailboxes_figures_due ON mailboxes (figures_due_at) WHERE figures_due_at IS NOT NULL;

-- What mailboxes took, or refused for good: claimed, [{queue_id, recipient, message_id}], written by insert_messages, and
-- told by emit_events, each once for a (queue id, recipient). Answers the messages that were not filed before.
CREATE FUNCTION file_messages(
    p_at timestamptz, p_claims jsonb, p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb, p_events jsonb)
RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
    fresh uuid[];
    told  jsonb;
BEGIN
    WITH claimed AS (
        INSERT INTO inbound_seen (queue_id, recipient, message_id, seen_at)
        SELECT c.queue_id, c.recipient, c.message_id, p_at
          FROM jsonb_to_recordset(p_claims) c(queue_id text, recipient text, message_id uuid)
        ON CONFLICT (queue_id, recipient) DO NOTHING
        RETURNING message_id)
    SELECT array_agg(c.message_id) INTO fresh FROM claimed c;
    IF fresh IS NULL THEN
        RETURN;
    END IF;
    PERFORM insert_messages(p_messages, p_rows, p_search, p_tags, fresh);
    SELECT jsonb_agg(e.event ORDER BY e.place) INTO told
      FROM jsonb_array_elements(p_events) WITH ORDINALITY e (event, place)
     WHERE (e.event->>'message_id')::uuid = ANY (fresh);
    IF told IS NOT NULL THEN
        PERFORM emit_events(p_at, told);
    END IF;
    RETURN QUERY SELECT f FROM unnest(fresh) f;
END
$$;
