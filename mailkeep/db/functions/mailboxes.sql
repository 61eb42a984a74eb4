-- Triggers of mailboxes and domains.

-- Sets the folded address of a mailbox, and since when it has it: another mailbox may have had it before, also while this one
-- was in the trash.
CREATE OR REPLACE FUNCTION mailboxes_set_address_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- An unknown domain gives '', and the insert fails at the foreign key.
    NEW.address_key := coalesce(NEW.local_key || '@' || (SELECT d.name FROM domains d WHERE d.id = NEW.domain_id), '');
    IF TG_OP = 'INSERT' THEN
        NEW.address_since := NEW.created_at;
    ELSIF NEW.address_key <> OLD.address_key OR (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL) THEN
        NEW.address_since := NEW.updated_at;
    END IF;
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER mailboxes_address_key BEFORE INSERT OR UPDATE OF domain_id, local_key, deleted_at ON mailboxes
    FOR EACH ROW EXECUTE FUNCTION mailboxes_set_address_key();

-- The level of a mailbox's usage: 95 or 80 if it is at least this percentage of the quota, else 0. A level is left only
-- five percent below it, so that a usage around it is reported once.
CREATE OR REPLACE FUNCTION quota_level_of(p_used bigint, p_quota bigint, p_level smallint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN p_quota = 0 THEN 0
                WHEN p_used::numeric * 100 >= p_quota::numeric * CASE WHEN p_level = 95 THEN 90 ELSE 95 END THEN 95
                WHEN p_used::numeric * 100 >= p_quota::numeric * CASE WHEN p_level > 0 THEN 75 ELSE 80 END THEN 80
                ELSE 0 END::smallint
$$;

-- Marks a mailbox whose usage has passed a level (directory/mailbox_usage warns its owner). A mark that is in vain is
-- harmless.
CREATE OR REPLACE FUNCTION mailboxes_mark_quota_level() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF quota_level_of(NEW.used_bytes, NEW.quota_bytes, NEW.quota_level) <> NEW.quota_level THEN
        NEW.quota_level_changed := true;
    END IF;
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER mailboxes_quota_level BEFORE UPDATE OF used_bytes, quota_bytes ON mailboxes
    FOR EACH ROW WHEN (NOT NEW.quota_level_changed) EXECUTE FUNCTION mailboxes_mark_quota_level();

-- Deletes the mailboxes in the trash with their domain. Other mailboxes prevent the deletion by their foreign key.
CREATE OR REPLACE FUNCTION domains_drop_trash() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mailboxes m WHERE m.domain_id = OLD.id AND m.deleted_at IS NOT NULL;
    RETURN OLD;
END
$$;
CREATE OR REPLACE TRIGGER domains_drop_trash BEFORE DELETE ON domains FOR EACH ROW EXECUTE FUNCTION domains_drop_trash();

-- Queues the removal of a deleted mailbox's Maildir.
CREATE OR REPLACE FUNCTION mailboxes_remove_mail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mail_removals (mailbox_id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER mailboxes_remove_mail AFTER DELETE ON mailboxes
    FOR EACH ROW EXECUTE FUNCTION mailboxes_remove_mail();

-- Ends the sessions of the owners of a domain's mailboxes if the domain is deactivated or may no longer be used for them.
CREATE OR REPLACE FUNCTION domains_end_owner_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM owner_sessions s USING mailboxes m WHERE m.id = s.mailbox_id AND m.domain_id = new.id;
    DELETE FROM pending_logins p USING mailboxes m WHERE m.id = p.mailbox_id AND m.domain_id = new.id;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER domains_end_owner_sessions AFTER UPDATE OF active, self_service ON domains FOR EACH ROW
    WHEN ((old.active AND NOT new.active) OR (old.self_service AND NOT new.self_service))
    EXECUTE FUNCTION domains_end_owner_sessions();

-- Ends the sessions whose access is withdrawn, and gives the mailbox a new access version: all protocols if it is
-- deactivated, deleted or renamed, else the protocols that are switched off. If only its password changes or is not
-- accepted any more, the sessions of app passwords continue.
CREATE OR REPLACE FUNCTION mailboxes_end_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    all_protocols constant boolean := (old.active AND NOT new.active)
        OR (old.deleted_at IS NULL AND new.deleted_at IS NOT NULL)
        OR old.local_key <> new.local_key OR old.domain_id <> new.domain_id;
    ended constant text[] := array_remove(ARRAY[
        CASE WHEN all_protocols OR (old.imap AND NOT new.imap) THEN 'imap' END,
        CASE WHEN all_protocols OR (old.pop3 AND NOT new.pop3) THEN 'pop3' END,
        CASE WHEN all_protocols OR (old.sieve AND NOT new.sieve) THEN 'sieve' END,
        CASE WHEN all_protocols OR (old.smtp AND NOT new.smtp) THEN 'smtp' END], NULL);
    of_domain constant boolean := (SELECT d.require_app_passwords FROM domains d WHERE d.id = old.domain_id);
BEGIN
    IF all_protocols THEN  -- also the sessions of the owner
        new.credentials_epoch := old.credentials_epoch + 1;
        new.surviving_session_id := NULL;
    END IF;
    IF ended <> '{}' THEN
        new.access_version := nextval('access_versions');
        INSERT INTO session_ends (id, subject, protocols, changed_at)
        VALUES (new.access_version, old.address_key, ended, new.updated_at);
    END IF;
    IF old.password_hash IS DISTINCT FROM new.password_hash OR (
        requires_app_passwords(new.require_app_passwords, of_domain, new.second_factor)
        AND NOT requires_app_passwords(old.require_app_passwords, of_domain, old.second_factor)
    ) THEN
        new.password_version := nextval('access_versions');
        INSERT INTO session_ends (id, subject, protocols, changed_at, password_only)
        VALUES (new.password_version, old.address_key, ARRAY['imap', 'pop3', 'sieve', 'smtp'], new.updated_at, true);
    END IF;
    RETURN new;
END
$$;
CREATE OR REPLACE TRIGGER mailboxes_end_sessions BEFORE UPDATE OF active, deleted_at, password_hash, local_key, domain_id,
    imap, pop3, sieve, smtp, require_app_passwords, second_factor ON mailboxes FOR EACH ROW EXECUTE FUNCTION mailboxes_end_sessions();

-- Ends the sessions of all mailboxes of a domain that is deactivated.
CREATE OR REPLACE FUNCTION domains_end_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    new.access_version := nextval('access_versions');
    INSERT INTO session_ends (id, subject, protocols, changed_at)
    VALUES (new.access_version, '@' || old.name, ARRAY['imap', 'pop3', 'sieve', 'smtp'], new.updated_at);
    RETURN new;
END
$$;
CREATE OR REPLACE TRIGGER domains_end_sessions BEFORE UPDATE OF active ON domains FOR EACH ROW
    WHEN (old.active AND NOT new.active) EXECUTE FUNCTION domains_end_sessions();
