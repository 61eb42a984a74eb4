-- A domain that is added again starts empty: what is stored by its name is deleted with it. All else belongs to its ID.
CREATE OR REPLACE FUNCTION domains_forget_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM send_counts c
     WHERE c.subject IN (OLD.name, forward_subject(OLD.name)) OR split_part(c.subject, '@', 2) = OLD.name;
    DELETE FROM sign_in_failures f WHERE f.account LIKE 'mailbox:%' AND split_part(f.account, '@', 2) = OLD.name;
    DELETE FROM sign_in_blocks b WHERE b.account LIKE 'mailbox:%' AND split_part(b.account, '@', 2) = OLD.name;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER domains_forget_name AFTER DELETE ON domains FOR EACH ROW EXECUTE FUNCTION domains_forget_name();
