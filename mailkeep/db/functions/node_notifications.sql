-- Notifies the node agents of new tasks, of certificates, of sessions to end, now or when an app password or API key expires, and of domains that
-- are added, deleted or change state: Postfix caches domains and has to be reloaded.
CREATE OR REPLACE FUNCTION notify_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('mailkeep_node', TG_TABLE_NAME);
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER node_tasks_notify AFTER INSERT ON node_tasks FOR EACH STATEMENT EXECUTE FUNCTION notify_nodes();
CREATE OR REPLACE TRIGGER domains_notify AFTER INSERT OR DELETE ON domains FOR EACH STATEMENT EXECUTE FUNCTION notify_nodes();
CREATE OR REPLACE TRIGGER domains_notify_update AFTER UPDATE ON domains FOR EACH ROW
    WHEN (old.active IS DISTINCT FROM new.active OR old.receiving_enabled IS DISTINCT FROM new.receiving_enabled)
    EXECUTE FUNCTION notify_nodes();
-- For each row: a statement that inserts none must not wake what runs it.
CREATE OR REPLACE TRIGGER session_ends_notify AFTER INSERT ON session_ends FOR EACH ROW EXECUTE FUNCTION notify_nodes();
CREATE OR REPLACE TRIGGER key_sessions_notify AFTER INSERT OR UPDATE ON key_sessions FOR EACH ROW
    WHEN (new.expires_at IS NOT NULL) EXECUTE FUNCTION notify_nodes();
CREATE OR REPLACE TRIGGER app_passwords_notify AFTER INSERT ON app_passwords FOR EACH ROW
    WHEN (new.expires_at IS NOT NULL) EXECUTE FUNCTION notify_nodes();
CREATE OR REPLACE TRIGGER certificates_notify AFTER INSERT OR DELETE OR UPDATE OF chain, names ON certificates
    FOR EACH ROW EXECUTE FUNCTION notify_nodes();

-- Wakes the process `backup`: an operation waits, or is to be cancelled.
CREATE OR REPLACE FUNCTION notify_backup() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('mailkeep_backup', NEW.id::text);
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER backup_operations_notify AFTER INSERT OR UPDATE OF cancel_requested ON backup_operations
    FOR EACH ROW EXECUTE FUNCTION notify_backup();
