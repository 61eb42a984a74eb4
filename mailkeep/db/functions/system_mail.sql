-- Queues a mail of Mailkeep itself for each of p_mails, [{id, recipient, item}], about its item. When a recipient has got
-- p_limit mails of this kind within an hour, further items are collected in one mail, which leaves after p_delay and
-- lists at most p_max_items of them.
CREATE OR REPLACE FUNCTION queue_system_mail(
    p_at timestamptz, p_kind text, p_mails jsonb, p_limit integer, p_delay interval, p_max_items integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    mail record;
    sent integer;
BEGIN
    -- In the order of the recipients, so that two transactions never wait for each other.
    FOR mail IN SELECT m.* FROM jsonb_to_recordset(p_mails) m(id uuid, recipient text, item jsonb) ORDER BY m.recipient LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended('mailkeep.system_mail ' || p_kind || ' ' || mail.recipient, 0));
        SELECT count(*) INTO sent FROM (
            SELECT FROM system_mail s
             WHERE s.kind = p_kind AND s.recipient = mail.recipient AND NOT s.collects
               AND s.created_at > p_at - interval '1 hour' LIMIT p_limit) recent;
        INSERT INTO system_mail AS s (id, kind, recipient, items, item_count, collects, created_at, next_attempt_at)
        VALUES (mail.id, p_kind, mail.recipient, jsonb_build_array(mail.item), 1, sent >= p_limit, p_at,
                CASE WHEN sent >= p_limit THEN p_at + p_delay ELSE p_at END)
        ON CONFLICT (kind, recipient) WHERE collects AND claims = 0 DO UPDATE
           SET item_count = s.item_count + 1,
               items = CASE WHEN jsonb_array_length(s.items) < p_max_items THEN s.items || excluded.items ELSE s.items END;
    END LOOP;
    PERFORM wake_workers('system_mail');
END
$$;
