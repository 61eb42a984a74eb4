-- Processes whose clients follow the events as a stream: they are told of new ones by NOTIFY. While there are none
-- nothing is notified: transactions that notify commit one after the other. Unlogged: who listens says so again.
CREATE UNLOGGED TABLE event_listeners (
    id      uuid PRIMARY KEY,
    seen_at timestamptz NOT NULL
);

CREATE FUNCTION tell_event_listeners() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM event_listeners) THEN
        PERFORM pg_notify('events', '');
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER events_told AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION tell_event_listeners();
