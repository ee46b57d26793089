-- A party with its name, a person's or a group's, in one table, so that one index gives all parties in the order of their
-- last names, those without one at its end, and a page begins in its middle. A view cannot: an index on person knows
-- nothing of parties that are no person, and of a join's two sides only one would begin at the page.
--
-- The table is kept by triggers on OFBiz's three. Each changes the columns that come from its own table, so that those who
-- write the tables of one party at the same time do not undo one another; and each runs with the rights of its owner, so
-- that OFBiz's role needs none here.

CREATE TABLE IF NOT EXISTS orderql.party (
    party_id      TEXT NOT NULL PRIMARY KEY,
    -- party's
    party_type_id TEXT,
    external_id   TEXT,
    status_id     TEXT,
    created_date  TIMESTAMPTZ,
    -- person's
    first_name    TEXT,
    last_name     TEXT,
    -- party_group's
    group_name    TEXT
);
CREATE INDEX IF NOT EXISTS party_by_last_name ON orderql.party (last_name, party_id);
CREATE INDEX IF NOT EXISTS party_with_first_name ON orderql.party (first_name, party_id);
CREATE INDEX IF NOT EXISTS party_with_external_id ON orderql.party (external_id, party_id);

-- Where nothing makes persons refer to parties, a new party may find its person there already.
CREATE OR REPLACE FUNCTION orderql.keep_party() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM orderql.party;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.party_id <> NEW.party_id THEN
        DELETE FROM orderql.party WHERE party_id = OLD.party_id;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' THEN
        INSERT INTO orderql.party (
            party_id, party_type_id, external_id, status_id, created_date, first_name, last_name, group_name
        )
        SELECT
            NEW.party_id, NEW.party_type_id, NEW.external_id, NEW.status_id, NEW.created_date,
            person.first_name, person.last_name, party_group.group_name
        FROM (VALUES (NEW.party_id)) AS added (party_id)
        LEFT JOIN public.person ON person.party_id = added.party_id
        LEFT JOIN public.party_group ON party_group.party_id = added.party_id
        ON CONFLICT (party_id) DO UPDATE
        SET party_type_id = EXCLUDED.party_type_id,
            external_id = EXCLUDED.external_id,
            status_id = EXCLUDED.status_id,
            created_date = EXCLUDED.created_date;
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION orderql.keep_person() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE orderql.party SET first_name = NULL, last_name = NULL;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.party_id <> NEW.party_id THEN
        UPDATE orderql.party SET first_name = NULL, last_name = NULL WHERE party_id = OLD.party_id;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' THEN
        UPDATE orderql.party SET first_name = NEW.first_name, last_name = NEW.last_name WHERE party_id = NEW.party_id;
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION orderql.keep_party_group() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        UPDATE orderql.party SET group_name = NULL;
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.party_id <> NEW.party_id THEN
        UPDATE orderql.party SET group_name = NULL WHERE party_id = OLD.party_id;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' THEN
        UPDATE orderql.party SET group_name = NEW.group_name WHERE party_id = NEW.party_id;
    END IF;
    RETURN NULL;
END;
$$;

CREATE OR REPLACE TRIGGER orderql_keep
    AFTER INSERT OR UPDATE OF party_id, party_type_id, external_id, status_id, created_date OR DELETE ON party
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_party();
CREATE OR REPLACE TRIGGER orderql_keep
    AFTER INSERT OR UPDATE OF party_id, first_name, last_name OR DELETE ON person
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_person();
CREATE OR REPLACE TRIGGER orderql_keep
    AFTER INSERT OR UPDATE OF party_id, group_name OR DELETE ON party_group
    FOR EACH ROW EXECUTE FUNCTION orderql.keep_party_group();

CREATE OR REPLACE TRIGGER orderql_keep_none AFTER TRUNCATE ON party
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_party();
CREATE OR REPLACE TRIGGER orderql_keep_none AFTER TRUNCATE ON person
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_person();
CREATE OR REPLACE TRIGGER orderql_keep_none AFTER TRUNCATE ON party_group
    FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_party_group();

-- Brings every row up to date; returns the number of rows that were not. After an import with its triggers off it finds
-- some. The lock lets writers that are at it finish first and has others wait, so that nothing is put back to an older state.
CREATE OR REPLACE FUNCTION orderql.backfill_parties() RETURNS bigint
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    removed bigint;
    changed bigint;
BEGIN
    LOCK TABLE orderql.party IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM orderql.party AS kept
    WHERE NOT EXISTS (SELECT FROM party WHERE party.party_id = kept.party_id);
    GET DIAGNOSTICS removed = ROW_COUNT;
    INSERT INTO orderql.party AS kept (
        party_id, party_type_id, external_id, status_id, created_date, first_name, last_name, group_name
    )
    SELECT
        party.party_id, party.party_type_id, party.external_id, party.status_id, party.created_date,
        person.first_name, person.last_name, party_group.group_name
    FROM party
    LEFT JOIN person ON person.party_id = party.party_id
    LEFT JOIN party_group ON party_group.party_id = party.party_id
    ON CONFLICT (party_id) DO UPDATE
    SET party_type_id = EXCLUDED.party_type_id,
        external_id = EXCLUDED.external_id,
        status_id = EXCLUDED.status_id,
        created_date = EXCLUDED.created_date,
        first_name = EXCLUDED.first_name,
        last_name = EXCLUDED.last_name,
        group_name = EXCLUDED.group_name
    WHERE kept.* IS DISTINCT FROM EXCLUDED.*;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN removed + changed;
END;
$$;

SELECT orderql.backfill_parties();
