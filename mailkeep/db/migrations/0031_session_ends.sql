-- Sessions end with the access that they were opened with (docs/decisions: sessions end with their access).
--
-- The access to a mailbox has a version, which changes with its password, address and domain, and where the mailbox or
-- its domain is deactivated, the mailbox deleted or a protocol withdrawn. Versions come from one sequence: a mailbox
-- that gets the address of an earlier one has another version, and the greater of mailbox and domain is that of both.
CREATE SEQUENCE access_versions;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'mailkeep_app') THEN
        GRANT USAGE ON SEQUENCE access_versions TO mailkeep_app;
    END IF;
END
$$;
ALTER TABLE domains ADD COLUMN access_version bigint NOT NULL DEFAULT nextval('access_versions');
ALTER TABLE mailboxes ADD COLUMN access_version bigint NOT NULL DEFAULT nextval('access_versions');

-- Sessions that are to end: those of `subject` (an address, or all of a domain: `@example.org`) by these protocols, as
-- they are named by Dovecot, that began before `changed_at`. The node's agent ends them and removes the row.
CREATE TABLE session_ends (
    id         bigint PRIMARY KEY,
    subject    text NOT NULL,
    protocols  text[] NOT NULL,
    changed_at timestamptz NOT NULL
);
CREATE TRIGGER session_ends_published AFTER INSERT ON session_ends FOR EACH STATEMENT EXECUTE FUNCTION tell_nodes();

CREATE FUNCTION mailboxes_end_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    all_of_them constant boolean := (old.active AND NOT new.active)
        OR (old.deleted_at IS NULL AND new.deleted_at IS NOT NULL)
        OR old.password_hash IS DISTINCT FROM new.password_hash
        OR old.local_key <> new.local_key OR old.domain_id <> new.domain_id;
    ended constant text[] := array_remove(ARRAY[
        CASE WHEN all_of_them OR (old.imap AND NOT new.imap) THEN 'imap' END,
        CASE WHEN all_of_them OR (old.pop3 AND NOT new.pop3) THEN 'pop3' END,
        CASE WHEN all_of_them OR (old.sieve AND NOT new.sieve) THEN 'sieve' END,
        CASE WHEN all_of_them OR (old.smtp AND NOT new.smtp) THEN 'smtp' END], NULL);
BEGIN
    IF ended <> '{}' THEN
        new.access_version := nextval('access_versions');
        INSERT INTO session_ends (id, subject, protocols, changed_at)
        VALUES (new.access_version, old.address_key, ended, new.updated_at);
    END IF;
    RETURN new;
END
$$;
CREATE TRIGGER mailboxes_end_sessions BEFORE UPDATE OF active, deleted_at, password_hash, local_key, domain_id, imap, pop3,
    sieve, smtp ON mailboxes FOR EACH ROW EXECUTE FUNCTION mailboxes_end_sessions();

CREATE FUNCTION domains_end_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    new.access_version := nextval('access_versions');
    INSERT INTO session_ends (id, subject, protocols, changed_at)
    VALUES (new.access_version, '@' || old.name, ARRAY['imap', 'pop3', 'sieve', 'smtp'], new.updated_at);
    RETURN new;
END
$$;
CREATE TRIGGER domains_end_sessions BEFORE UPDATE OF active ON domains FOR EACH ROW
    WHEN (old.active AND NOT new.active) EXECUTE FUNCTION domains_end_sessions();

-- The login of a submission session names the version of the access that it was opened with, since Postfix passes
-- nothing else on: `alice@example.org/17`.
DROP FUNCTION mta_login(text, text, text);
CREATE FUNCTION mta_login(p_local text, p_domain text, p_protocol text)
RETURNS TABLE (login text, password text, mailbox_id uuid, quota_bytes bigint, access_version bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT m.address_key || CASE p_protocol WHEN 'smtp' THEN '/' || v.access_version ELSE '' END,
               m.password_hash, m.id, m.quota_bytes, v.access_version
          FROM domains d
          JOIN mailboxes m ON m.domain_id = d.id
          CROSS JOIN LATERAL (SELECT greatest(d.access_version, m.access_version) AS access_version) v
         WHERE d.name = lower(p_domain COLLATE "C") AND d.active
           AND m.local_key = mailkeep_fold(p_local) AND m.deleted_at IS NULL AND m.active
           AND CASE p_protocol WHEN 'imap' THEN m.imap WHEN 'pop3' THEN m.pop3 WHEN 'sieve' THEN m.sieve
                               WHEN 'smtp' THEN m.smtp ELSE false END;
END
$$;

-- Dovecot asks after a password was verified, too: the session opens only if the access is still that of the password.
DROP FUNCTION mta_user(text, text);
CREATE FUNCTION mta_user(p_local text, p_domain text)
RETURNS TABLE (login text, mailbox_id uuid, quota_bytes bigint, plus_delimiter text, access_version bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT m.address_key, m.id, m.quota_bytes, d.plus_delimiter, greatest(d.access_version, m.access_version)
          FROM domains d
          CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
          JOIN mailboxes m ON m.id = r.id
         WHERE d.name = lower(p_domain COLLATE "C") AND r.rank IN (1, 3) AND m.active AND d.active;
END
$$;

-- What Postfix compares the login of a session with: the logins that may send from an address, as mta_login names them.
ALTER FUNCTION mta_senders(text, text) RENAME TO sender_logins;
CREATE FUNCTION mta_senders(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT string_agg(m.address_key || '/' || greatest(d.access_version, m.access_version), ',')
      FROM sender_logins(p_local, p_domain) s
      JOIN mailboxes m ON m.address_key = ANY (string_to_array(s, ',')) AND m.deleted_at IS NULL
      JOIN domains d ON d.id = m.domain_id
    HAVING count(*) > 0
$$;

REVOKE EXECUTE ON FUNCTION mta_login(text, text, text), mta_user(text, text), mta_senders(text, text) FROM PUBLIC;
