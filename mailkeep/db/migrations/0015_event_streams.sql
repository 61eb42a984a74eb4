-- Wakes who watches the feed for streams (GET /events/stream). Each watcher holds the lock while it sleeps; where none
-- does, NOTIFY is spared, which makes transactions commit one after the other.
CREATE FUNCTION wake_event_streams() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    asleep bigint := hashtextextended('mailkeep.asleep events', 0);
BEGIN
    IF pg_try_advisory_lock(asleep) THEN
        PERFORM pg_advisory_unlock(asleep);
    ELSE
        PERFORM pg_notify('mailkeep_events', '');
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER events_told AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION wake_event_streams();
