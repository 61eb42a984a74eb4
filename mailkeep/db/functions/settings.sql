-- Notifies every process of changed settings.
CREATE OR REPLACE FUNCTION notify_settings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('mailkeep_settings', '');
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER settings_revisions_notify AFTER INSERT OR UPDATE ON settings_revisions
    FOR EACH STATEMENT EXECUTE FUNCTION notify_settings();
