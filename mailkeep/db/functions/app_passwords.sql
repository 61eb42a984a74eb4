-- App passwords, and which passwords open mail sessions.

-- Whether a mailbox's own password is rejected: as the mailbox says, else its domain, else the setting; always if its owner
-- has a second factor, because mail clients do not ask for one.
CREATE OR REPLACE FUNCTION requires_app_passwords(p_mailbox boolean, p_domain boolean, p_factor boolean DEFAULT false)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_factor OR coalesce(p_mailbox, p_domain, (SELECT s.require_app_passwords FROM routing_settings s))
$$;

-- The passwords that open sessions of a mailbox with a protocol at a time, as they are named in logins: `17` is the
-- mailbox's own password, `17/23` the app password with the number 23; 17 is the version of the access.
CREATE OR REPLACE FUNCTION session_accesses(p_mailbox uuid, p_protocol text, p_at timestamptz) RETURNS SETOF text
LANGUAGE sql STABLE AS $$
    WITH allowed AS (
        SELECT m.id, greatest(d.access_version, m.access_version) AS version, m.password_version,
               requires_app_passwords(m.require_app_passwords, d.require_app_passwords, m.second_factor) AS app_passwords_only
          FROM mailboxes m JOIN domains d ON d.id = m.domain_id
         WHERE m.id = p_mailbox AND m.deleted_at IS NULL AND m.active AND d.active AND NOT is_restricted('sign_in', m.id)
           AND CASE p_protocol WHEN 'imap' THEN m.imap WHEN 'pop3' THEN m.pop3 WHEN 'sieve' THEN m.sieve
                               WHEN 'smtp' THEN m.smtp ELSE false END
    )
    SELECT greatest(a.version, a.password_version)::text FROM allowed a WHERE NOT a.app_passwords_only
    UNION ALL
    SELECT a.version || '/' || p.number
      FROM allowed a JOIN app_passwords p ON p.mailbox_id = a.id
     WHERE p_protocol = ANY (p.protocols) AND (p.expires_at IS NULL OR p.expires_at > p_at)
       AND NOT is_restricted('app_password', p.id)
$$;

-- Ends the sessions with the own passwords of mailboxes that start to require app passwords: those of a domain, or of
-- all domains without a value of their own (p_domain NULL).
CREATE OR REPLACE FUNCTION end_password_sessions(p_domain uuid, p_at timestamptz) RETURNS void LANGUAGE sql AS $$
    INSERT INTO session_ends (id, subject, protocols, changed_at, password_only)
    SELECT nextval('access_versions'), m.address_key, ARRAY['imap', 'pop3', 'sieve', 'smtp'], p_at, true
      FROM mailboxes m JOIN domains d ON d.id = m.domain_id
     WHERE m.deleted_at IS NULL AND m.require_app_passwords IS NULL
       AND CASE WHEN p_domain IS NULL THEN d.require_app_passwords IS NULL ELSE d.id = p_domain END
$$;

CREATE OR REPLACE FUNCTION domains_require_app_passwords() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF requires_app_passwords(NULL, new.require_app_passwords)
       AND NOT requires_app_passwords(NULL, old.require_app_passwords) THEN
        PERFORM end_password_sessions(new.id, new.updated_at);
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER domains_require_app_passwords AFTER UPDATE OF require_app_passwords ON domains FOR EACH ROW
    EXECUTE FUNCTION domains_require_app_passwords();

CREATE OR REPLACE FUNCTION settings_require_app_passwords() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM end_password_sessions(NULL, new.applied_at);
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER settings_require_app_passwords AFTER UPDATE ON routing_settings FOR EACH ROW
    WHEN (new.require_app_passwords AND NOT old.require_app_passwords) EXECUTE FUNCTION settings_require_app_passwords();
