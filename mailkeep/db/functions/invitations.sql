-- An invitation ends when its account gets a password in another way, is disabled, or goes to the trash.
CREATE OR REPLACE FUNCTION end_invitation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'admins' THEN
        DELETE FROM invitations i WHERE i.admin_id = NEW.id;
    ELSE
        DELETE FROM invitations i WHERE i.mailbox_id = NEW.id;
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER admins_end_invitation AFTER UPDATE OF password_hash, active ON admins FOR EACH ROW
    WHEN (old.password_hash IS DISTINCT FROM new.password_hash OR (old.active AND NOT new.active))
    EXECUTE FUNCTION end_invitation();
CREATE OR REPLACE TRIGGER mailboxes_end_invitation AFTER UPDATE OF password_hash, active, deleted_at ON mailboxes FOR EACH ROW
    WHEN (old.password_hash IS DISTINCT FROM new.password_hash OR (old.active AND NOT new.active)
          OR (old.deleted_at IS NULL AND new.deleted_at IS NOT NULL))
    EXECUTE FUNCTION end_invitation();
