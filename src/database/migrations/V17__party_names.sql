-- A party under whichever name it has, a person's or a group's, in one relation: one index then gives all parties in the
-- order of their last names, those without one at its end. An index on person could not, as it knows nothing of parties
-- that are no person.
--
-- The names are kept by triggers on OFBiz's tables. Each changes only the columns that come from its table, so that
-- writers of one party's different tables do not undo one another; and each runs with the rights of its owner, so
-- that OFBiz's role needs none here.

CREATE TABLE IF NOT EXISTS orderql.party_name (
    party_id   TEXT NOT NULL PRIMARY KEY,
    first_name TEXT,
    last_name  TEXT,
    group_name TEXT
);
CREATE INDEX IF NOT EXISTS party_name_by_last_name ON orderql.party_name (last_name, party_id);
CREATE INDEX IF NOT EXISTS party_name_with_first_name ON orderql.party_name (first_name, party_id);

-- A new party may find its person there already, where nothing refers.
CREATE OR REPLACE FUNCTION orderql.keep_party() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM orderql.party_name;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.party_id <> NEW.party_id THEN
        DELETE FROM orderql.party_name WHERE party_id = OLD.party_id;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' THEN
        INSERT INTO orderql.party_name (party_id, first_name, last_name, group_name)
        SELECT NEW.party_id, person.first_name, person.last_name, party_group.group_name
        FROM (VALUES (1)) AS one
        LEFT JOIN public.person ON person.party_id = NEW.party_id
        LEFT JOIN public.party_group ON party_group.party_id = NEW.party_id
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION orderql.keep_person_name() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE orderql.party_name SET first_name = NULL, last_name = NULL;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.party_id <> NEW.party_id THEN
        UPDATE orderql.party_name SET first_name = NULL, last_name = NULL WHERE party_id = OLD.party_id;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' THEN
        INSERT INTO orderql.party_name (party_id, first_name, last_name)
        VALUES (NEW.party_id, NEW.first_name, NEW.last_name)
        ON CONFLICT (party_id) DO UPDATE SET first_name = EXCLUDED.first_name, last_name = EXCLUDED.last_name;
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION orderql.keep_group_name() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE orderql.party_name SET group_name = NULL;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.party_id <> NEW.party_id THEN
        UPDATE orderql.party_name SET group_name = NULL WHERE party_id = OLD.party_id;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' THEN
        INSERT INTO orderql.party_name (party_id, group_name)
        VALUES (NEW.party_id, NEW.group_name)
        ON CONFLICT (party_id) DO UPDATE SET group_name = EXCLUDED.group_name;
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE TRIGGER orderql_keep_party AFTER INSERT OR UPDATE OF party_id OR DELETE ON party
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_party();
CREATE OR REPLACE TRIGGER orderql_keep_no_party AFTER TRUNCATE ON party
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_party();
CREATE OR REPLACE TRIGGER orderql_keep_person_name AFTER INSERT OR UPDATE OF party_id, first_name, last_name OR DELETE
    ON person FOR EACH ROW EXECUTE FUNCTION orderql.keep_person_name();
CREATE OR REPLACE TRIGGER orderql_keep_no_person_name AFTER TRUNCATE ON person
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_person_name();
CREATE OR REPLACE TRIGGER orderql_keep_group_name AFTER INSERT OR UPDATE OF party_id, group_name OR DELETE
    ON party_group FOR EACH ROW EXECUTE FUNCTION orderql.keep_group_name();
CREATE OR REPLACE TRIGGER orderql_keep_no_group_name AFTER TRUNCATE ON party_group
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_group_name();

-- Brings every name up to date, as a restored backup or an import with its triggers off may need. The lock lets writers that
-- are at it finish first, and others wait, so that no name is put back to an older one.
CREATE OR REPLACE FUNCTION orderql.backfill_party_names() RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    removed bigint;
    changed bigint;
BEGIN
    LOCK TABLE orderql.party_name IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM orderql.party_name AS name
    WHERE NOT EXISTS (SELECT FROM party WHERE party.party_id = name.party_id);
    GET DIAGNOSTICS removed = ROW_COUNT;
    INSERT INTO orderql.party_name AS name (party_id, first_name, last_name, group_name)
    SELECT party.party_id, person.first_name, person.last_name, party_group.group_name
    FROM party
    LEFT JOIN person ON person.party_id = party.party_id
    LEFT JOIN party_group ON party_group.party_id = party.party_id
    ON CONFLICT (party_id) DO UPDATE
    SET first_name = EXCLUDED.first_name, last_name = EXCLUDED.last_name, group_name = EXCLUDED.group_name
    WHERE (name.first_name, name.last_name, name.group_name)
        IS DISTINCT FROM (EXCLUDED.first_name, EXCLUDED.last_name, EXCLUDED.group_name);
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN removed + changed;
END;
$$;

SELECT orderql.backfill_party_names();

-- The key is the name's, next to which it stands in the indexes above.
CREATE OR REPLACE VIEW orderql.party AS
SELECT
    name.party_id,
    party.party_type_id,
    party.external_id,
    party.status_id,
    party.created_date,
    name.first_name,
    name.last_name,
    name.group_name
FROM orderql.party_name AS name
JOIN party ON party.party_id = name.party_id;
