-- Lists of aliases sort by their last change, too.

CREATE INDEX aliases_by_update ON aliases (updated_at, id);
CREATE INDEX aliases_by_domain_and_update ON aliases (domain_id, updated_at, id);
