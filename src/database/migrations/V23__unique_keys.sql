-- Keys that identify rows both in stock OFBiz and in HotWax's tables, whose primary keys have more columns: order_role and
-- good_identification from_date as well, shipment_status only shipment_status_id. A stock table that lacks such a column gets
-- it, with a default, so that OFBiz's own statements go on as before.

ALTER TABLE order_role
    ADD COLUMN IF NOT EXISTS from_date TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS thru_date TIMESTAMPTZ;

ALTER TABLE shipment_status ADD COLUMN IF NOT EXISTS shipment_status_id VARCHAR(20) DEFAULT '';
DO $$
BEGIN
    -- Without a date, an identification was always valid.
    IF NOT (
        SELECT attnotnull FROM pg_attribute
        WHERE attrelid = 'good_identification'::regclass AND attname = 'from_date'
    ) THEN
        UPDATE good_identification SET from_date = '1970-01-01T00:00:00Z' WHERE from_date IS NULL;
        ALTER TABLE good_identification
            ALTER COLUMN from_date SET DEFAULT '1970-01-01T00:00:00Z',
            ALTER COLUMN from_date SET NOT NULL;
    END IF;
    -- In HotWax's table it is the key, and the order update needs new ones. Elsewhere it is always the same.
    IF (
        SELECT attnotnull FROM pg_attribute
        WHERE attrelid = 'shipment_status'::regclass AND attname = 'shipment_status_id'
    ) THEN
        CREATE SEQUENCE IF NOT EXISTS orderql.shipment_status_id;
        ALTER TABLE shipment_status
            ALTER COLUMN shipment_status_id SET DEFAULT 'OQL' || nextval('orderql.shipment_status_id');
    ELSE
        UPDATE shipment_status SET shipment_status_id = '' WHERE shipment_status_id IS NULL;
        ALTER TABLE shipment_status
            ALTER COLUMN shipment_status_id SET DEFAULT '',
            ALTER COLUMN shipment_status_id SET NOT NULL;
    END IF;
END;
$$;

-- Replaces an index of ours by one that has more columns.
CREATE OR REPLACE FUNCTION orderql.extend_index(name text, relation text, columns text)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    definition text;
BEGIN
    SELECT substring(pg_get_indexdef(indexrelid) FROM ' USING btree \((.*)\)$') INTO definition
    FROM pg_index WHERE indrelid = relation::regclass AND indexrelid = to_regclass(name);
    IF definition IS NOT NULL AND definition <> columns THEN
        EXECUTE format('DROP INDEX %I', name);
    END IF;
    PERFORM orderql.add_index(name, relation, columns);
END;
$$;

SELECT orderql.extend_index(name, relation, columns)
FROM (VALUES
    ('oql_good_identification_by_key',       'good_identification', 'good_identification_type_id, product_id, from_date'),
    ('oql_good_identification_of_product',   'good_identification', 'product_id, good_identification_type_id, from_date'),
    ('oql_good_identification_with_value',   'good_identification', 'id_value, good_identification_type_id, product_id, from_date'),
    ('oql_shipment_status_of_shipment',      'shipment_status',     'shipment_id, status_id, shipment_status_id')
) AS listed (name, relation, columns);
DROP FUNCTION orderql.extend_index(text, text, text);

-- The parties to whom an order is billed now, persons and organisations. Which of several is the one, the schema decides: the
-- first by party id. A role without dates is valid.
CREATE OR REPLACE VIEW orderql.bill_to_customer AS
SELECT role.order_id, role.party_id, person.first_name, person.last_name, party_group.group_name
FROM order_role AS role
LEFT JOIN person ON person.party_id = role.party_id
LEFT JOIN party_group ON party_group.party_id = role.party_id
WHERE role.role_type_id = 'BILL_TO_CUSTOMER'
  AND (role.from_date IS NULL OR role.from_date <= CURRENT_TIMESTAMP)
  AND (role.thru_date IS NULL OR role.thru_date > CURRENT_TIMESTAMP);

-- The orders that are billed to a party now, each once, however often the party has the role. Their id is the role's (USING
-- takes it from there), so that a page of a party's orders begins in the middle of an index on the roles.
CREATE OR REPLACE VIEW orderql.party_order AS
SELECT *
FROM (
    SELECT role.order_id, role.party_id AS bill_to_party_id
    FROM order_role AS role
    WHERE role.role_type_id = 'BILL_TO_CUSTOMER'
      AND (role.from_date IS NULL OR role.from_date <= CURRENT_TIMESTAMP)
      AND (role.thru_date IS NULL OR role.thru_date > CURRENT_TIMESTAMP)
      AND NOT EXISTS (
        SELECT
        FROM order_role AS later
        WHERE later.order_id = role.order_id
          AND later.party_id = role.party_id
          AND later.role_type_id = role.role_type_id
          AND later.from_date > role.from_date
          AND later.from_date <= CURRENT_TIMESTAMP
          AND (later.thru_date IS NULL OR later.thru_date > CURRENT_TIMESTAMP)
      )
) AS role
JOIN order_header USING (order_id);

-- The triggers that keep orderql.party run for replicated rows and with session_replication_role = replica as well: the rows
-- of its three sources come without those of the table itself, which replication leaves out unless somebody publishes it.
ALTER TABLE party ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_none;
ALTER TABLE person ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_none;
ALTER TABLE party_group ENABLE ALWAYS TRIGGER orderql_keep, ENABLE ALWAYS TRIGGER orderql_keep_none;
