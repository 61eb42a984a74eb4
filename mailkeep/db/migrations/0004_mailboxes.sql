-- What lists of domains and mailboxes sort by, and what goes with a domain or a mailbox.

CREATE INDEX domains_by_name ON domains (name, id);
CREATE INDEX domains_by_update ON domains (updated_at, id);

-- The folded address in one column: lists sort by it, suspensions and administrators are found by it.
ALTER TABLE mailboxes ADD COLUMN address_key text;
UPDATE mailboxes m SET address_key = m.local_key || '@' || d.name FROM domains d WHERE d.id = m.domain_id;
ALTER TABLE mailboxes ALTER COLUMN address_key SET NOT NULL;

CREATE FUNCTION mailboxes_set_address_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- An unknown domain leaves '' here and fails at its foreign key.
    NEW.address_key := coalesce(NEW.local_key || '@' || (SELECT d.name FROM domains d WHERE d.id = NEW.domain_id), '');
    RETURN NEW;
END
$$;
CREATE TRIGGER mailboxes_address_key BEFORE INSERT OR UPDATE OF domain_id, local_key ON mailboxes
    FOR EACH ROW EXECUTE FUNCTION mailboxes_set_address_key();

CREATE INDEX mailboxes_by_address ON mailboxes (address_key, id);
CREATE INDEX mailboxes_by_update ON mailboxes (updated_at, id);
CREATE INDEX mailboxes_by_domain_and_address ON mailboxes (domain_id, address_key, id);
CREATE INDEX mailboxes_by_domain_and_update ON mailboxes (domain_id, updated_at, id);

-- Trashed mailboxes go with their domain; one that is not in the trash still holds the domain by its foreign key.
CREATE FUNCTION domains_drop_trash() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mailboxes m WHERE m.domain_id = OLD.id AND m.deleted_at IS NOT NULL;
    RETURN OLD;
END
$$;
CREATE TRIGGER domains_drop_trash BEFORE DELETE ON domains FOR EACH ROW EXECUTE FUNCTION domains_drop_trash();

-- Mailboxes that are gone whose folder of mail is still to be removed: born with the end of the row, so that no
-- crash forgets a folder, and no restored database loses one that it knows nothing of.
CREATE TABLE mail_removals (
    mailbox_id uuid PRIMARY KEY
);
CREATE FUNCTION mailboxes_remove_mail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mail_removals (mailbox_id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER mailboxes_remove_mail AFTER DELETE ON mailboxes
    FOR EACH ROW EXECUTE FUNCTION mailboxes_remove_mail();
