-- What a facility has to do: open ship groups and picklists; how many updates a second a caller may send.
--
-- The ship groups that still have something to do are in a table of their own: few rows beside all ship groups, with the
-- columns that a facility searches and sorts them by, so that an index returns a page of its queue.
--
-- A group is open as long as an item of it is neither sent nor given up, and its order is neither. It is in the table as the
-- view orderql.open_ship_group_source has it.
--
-- Triggers on the four tables of the view bring the groups of all orders that a statement changed up to date. They lock the
-- headers of these orders first, in the order of their ids, and read the orders afterwards: of two transactions that change
-- items of one order, the second waits for the first and sees its items. That holds with READ COMMITTED, which is the default
-- of PostgreSQL and OFBiz. A statement that changes nothing that the view reads locks nothing.

CREATE TABLE IF NOT EXISTS orderql.open_ship_group (
    order_id                TEXT NOT NULL,
    ship_group_seq_id       TEXT NOT NULL,
    facility_id             TEXT,
    shipment_method_type_id TEXT,
    item_status_id          TEXT NOT NULL,
    order_status_id         TEXT,
    product_store_id        TEXT,
    order_date              TIMESTAMPTZ,
    promised_date           TIMESTAMPTZ,
    CONSTRAINT pk_open_ship_group PRIMARY KEY (order_id, ship_group_seq_id)
) WITH (fillfactor = 70);

-- They have no other columns, so that a change of status writes none of them.
CREATE INDEX IF NOT EXISTS open_ship_group_by_date ON orderql.open_ship_group (order_date, order_id, ship_group_seq_id);
CREATE INDEX IF NOT EXISTS open_ship_group_by_promise ON orderql.open_ship_group (promised_date, order_id, ship_group_seq_id);
CREATE INDEX IF NOT EXISTS open_ship_group_of_facility_by_date
    ON orderql.open_ship_group (facility_id, order_date, order_id, ship_group_seq_id);
CREATE INDEX IF NOT EXISTS open_ship_group_of_facility_by_promise
    ON orderql.open_ship_group (facility_id, promised_date, order_id, ship_group_seq_id);
CREATE INDEX IF NOT EXISTS open_ship_group_of_facility
    ON orderql.open_ship_group (facility_id, order_id, ship_group_seq_id);
CREATE INDEX IF NOT EXISTS open_ship_group_of_store_by_date
    ON orderql.open_ship_group (product_store_id, order_date, order_id, ship_group_seq_id);
CREATE INDEX IF NOT EXISTS open_ship_group_of_store_by_promise
    ON orderql.open_ship_group (product_store_id, promised_date, order_id, ship_group_seq_id);
CREATE INDEX IF NOT EXISTS open_ship_group_of_store
    ON orderql.open_ship_group (product_store_id, order_id, ship_group_seq_id);

-- The rows that the table must have. For one group it reads rows by the primary keys of their tables, whatever PostgreSQL's
-- statistics say. A group's items can have several statuses: its status is that of the item which comes next.
CREATE OR REPLACE VIEW orderql.open_ship_group_source AS
SELECT
    ship_group.order_id::text,
    ship_group.ship_group_seq_id::text,
    ship_group.facility_id::text,
    ship_group.shipment_method_type_id::text,
    next_item.status_id::text AS item_status_id,
    header.status_id::text AS order_status_id,
    header.product_store_id::text,
    header.order_date,
    (
        SELECT min(reserved.promised_datetime)
        FROM public.order_item_ship_grp_inv_res AS reserved
        WHERE reserved.order_id = ship_group.order_id AND reserved.ship_group_seq_id = ship_group.ship_group_seq_id
    ) AS promised_date
FROM public.order_item_ship_group AS ship_group
JOIN public.order_header AS header ON header.order_id = ship_group.order_id
CROSS JOIN LATERAL (
    SELECT item.status_id
    FROM public.order_item AS item
    WHERE item.order_id = ship_group.order_id
      AND item.ship_group_seq_id = ship_group.ship_group_seq_id
      AND item.status_id IN ('ITEM_APPROVED', 'ITEM_CREATED', 'ITEM_HOLD', 'ITEM_REQ_CANCELATN')
    ORDER BY CASE item.status_id WHEN 'ITEM_APPROVED' THEN 1 WHEN 'ITEM_CREATED' THEN 2 WHEN 'ITEM_HOLD' THEN 3 ELSE 4 END
    LIMIT 1
) AS next_item
WHERE header.order_type_id IS DISTINCT FROM 'PURCHASE_ORDER'
  AND COALESCE(header.status_id, '') NOT IN (
    'ORDER_SENT', 'ORDER_COMPLETED', 'ORDER_CANCELLED', 'ORDER_REJECTED', 'ORDER_EXPIRED'
  );

-- Brings the groups of these orders up to date. Each row is found by a primary key, so that one plan suits any number of
-- orders; planning anew would take ten times as long as running it.
CREATE OR REPLACE FUNCTION orderql.refresh_open_ship_groups(changed text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM FROM public.order_header WHERE order_id = ANY (changed) ORDER BY order_id FOR NO KEY UPDATE;
    DELETE FROM orderql.open_ship_group AS kept
    WHERE kept.order_id = ANY (changed)
      AND NOT EXISTS (
        SELECT
        FROM orderql.open_ship_group_source AS source
        WHERE source.order_id = kept.order_id AND source.ship_group_seq_id = kept.ship_group_seq_id
    );
    INSERT INTO orderql.open_ship_group AS kept
    SELECT * FROM orderql.open_ship_group_source AS source WHERE source.order_id = ANY (changed)
    ON CONFLICT (order_id, ship_group_seq_id) DO UPDATE
    SET facility_id = EXCLUDED.facility_id,
        shipment_method_type_id = EXCLUDED.shipment_method_type_id,
        item_status_id = EXCLUDED.item_status_id,
        order_status_id = EXCLUDED.order_status_id,
        product_store_id = EXCLUDED.product_store_id,
        order_date = EXCLUDED.order_date,
        promised_date = EXCLUDED.promised_date
    WHERE kept.* IS DISTINCT FROM EXCLUDED.*;
END;
$$;

-- Of an update, the rows whose columns of the view differ. It runs with the rights of its owner, so that OFBiz's role needs
-- none here.
CREATE OR REPLACE FUNCTION orderql.keep_open_ship_groups() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    changed text[];
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        IF TG_TABLE_NAME = 'order_item_ship_grp_inv_res' THEN
            UPDATE orderql.open_ship_group SET promised_date = NULL;
        ELSE
            DELETE FROM orderql.open_ship_group;
        END IF;
        RETURN NULL;
    ELSIF TG_LEVEL = 'ROW' THEN
        changed := ARRAY[OLD.order_id, NEW.order_id];
    ELSIF TG_OP = 'INSERT' AND TG_TABLE_NAME = 'order_header' THEN
        -- Only where nothing makes ship groups refer to orders does an order find its own there already.
        changed := ARRAY(
            SELECT order_id FROM new_rows
            WHERE EXISTS (SELECT FROM public.order_item_ship_group AS found WHERE found.order_id = new_rows.order_id)
        );
    ELSIF TG_OP = 'INSERT' AND TG_TABLE_NAME = 'order_item' THEN
        changed := ARRAY(
            SELECT DISTINCT order_id FROM new_rows
            WHERE status_id IN ('ITEM_APPROVED', 'ITEM_CREATED', 'ITEM_HOLD', 'ITEM_REQ_CANCELATN')
        );
    ELSIF TG_OP = 'INSERT' AND TG_TABLE_NAME = 'order_item_ship_grp_inv_res' THEN
        changed := ARRAY(SELECT DISTINCT order_id FROM new_rows WHERE promised_datetime IS NOT NULL);
    ELSIF TG_OP = 'INSERT' THEN
        changed := ARRAY(SELECT DISTINCT order_id FROM new_rows);
    ELSIF TG_OP = 'DELETE' THEN
        changed := ARRAY(SELECT DISTINCT order_id FROM old_rows);
    ELSIF TG_TABLE_NAME = 'order_header' THEN
        changed := ARRAY(
            SELECT order_id
            FROM (SELECT order_id, order_type_id, status_id, product_store_id, order_date FROM old_rows
                  UNION ALL
                  SELECT order_id, order_type_id, status_id, product_store_id, order_date FROM new_rows) AS version
            GROUP BY order_id, order_type_id, status_id, product_store_id, order_date
            HAVING count(*) = 1
        );
    ELSIF TG_TABLE_NAME = 'order_item_ship_group' THEN
        changed := ARRAY(
            SELECT order_id
            FROM (SELECT order_id, ship_group_seq_id, facility_id, shipment_method_type_id FROM old_rows
                  UNION ALL
                  SELECT order_id, ship_group_seq_id, facility_id, shipment_method_type_id FROM new_rows) AS version
            GROUP BY order_id, ship_group_seq_id, facility_id, shipment_method_type_id
            HAVING count(*) = 1
        );
    ELSIF TG_TABLE_NAME = 'order_item' THEN
        changed := ARRAY(
            SELECT order_id
            FROM (SELECT order_id, order_item_seq_id, ship_group_seq_id, status_id FROM old_rows
                  UNION ALL
                  SELECT order_id, order_item_seq_id, ship_group_seq_id, status_id FROM new_rows) AS version
            GROUP BY order_id, order_item_seq_id, ship_group_seq_id, status_id
            HAVING count(*) = 1
        );
    ELSE
        changed := ARRAY(
            SELECT order_id
            FROM (SELECT order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime FROM old_rows
                  UNION ALL
                  SELECT order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime FROM new_rows)
                AS version
            GROUP BY order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime
            HAVING count(*) = 1
        );
    END IF;
    IF cardinality(changed) > 0 THEN
        PERFORM orderql.refresh_open_ship_groups(changed);
    END IF;
    RETURN NULL;
END;
$$;

-- A statement has one trigger, whatever number of rows it changes. Logical replication, and a session with
-- session_replication_role = replica, run triggers of rows alone, so these have one for each row.
DO $$
DECLARE
    source text;
    columns text;
BEGIN
    FOR source, columns IN VALUES
        ('order_header',                'order_id, order_type_id, status_id, product_store_id, order_date'),
        ('order_item_ship_group',       'order_id, ship_group_seq_id, facility_id, shipment_method_type_id'),
        ('order_item',                  'order_id, ship_group_seq_id, status_id'),
        ('order_item_ship_grp_inv_res', 'order_id, ship_group_seq_id, promised_datetime')
    LOOP
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER orderql_open_inserted AFTER INSERT ON %1$I REFERENCING NEW TABLE AS new_rows
                 FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_open_ship_groups();
             CREATE OR REPLACE TRIGGER orderql_open_updated
                 AFTER UPDATE ON %1$I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
                 FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_open_ship_groups();
             CREATE OR REPLACE TRIGGER orderql_open_deleted AFTER DELETE ON %1$I REFERENCING OLD TABLE AS old_rows
                 FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_open_ship_groups();
             CREATE OR REPLACE TRIGGER orderql_open_truncated AFTER TRUNCATE ON %1$I
                 FOR EACH STATEMENT EXECUTE FUNCTION orderql.keep_open_ship_groups();
             CREATE OR REPLACE TRIGGER orderql_open_replicated AFTER INSERT OR UPDATE OF %2$s OR DELETE ON %1$I
                 FOR EACH ROW EXECUTE FUNCTION orderql.keep_open_ship_groups();
             ALTER TABLE %1$I ENABLE ALWAYS TRIGGER orderql_open_truncated, ENABLE REPLICA TRIGGER orderql_open_replicated',
            source, columns
        );
    END LOOP;
END;
$$;

-- As orderql.backfill_parties(): brings every row up to date, and returns the number of rows that were not. It needs no lock of
-- the table: rows and their sources are read in one snapshot, and orders that differ are brought up to date as a writer does.
CREATE OR REPLACE FUNCTION orderql.backfill_open_ship_groups() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    differing text[] := ARRAY(
        SELECT order_id
        FROM orderql.open_ship_group_source AS source
        FULL JOIN orderql.open_ship_group AS kept USING (order_id, ship_group_seq_id)
        WHERE source.* IS DISTINCT FROM kept.*
    );
BEGIN
    IF cardinality(differing) > 0 THEN
        PERFORM orderql.refresh_open_ship_groups(differing);
    END IF;
    RETURN cardinality(differing);
END;
$$;

SELECT orderql.backfill_open_ship_groups();

-- The same for orderql.party, so that both tables are compared in the same way.
CREATE OR REPLACE VIEW orderql.party_source AS
SELECT
    party.party_id::text,
    party.party_type_id::text,
    party.external_id::text,
    party.status_id::text,
    party.created_date,
    person.first_name::text,
    person.last_name::text,
    party_group.group_name::text
FROM public.party
LEFT JOIN public.person ON person.party_id = party.party_id
LEFT JOIN public.party_group ON party_group.party_id = party.party_id;

-- The statuses of orders, of items and of picks, by the names of search keys.
CREATE OR REPLACE VIEW orderql.order_status_value AS
SELECT status_id AS order_status_id FROM status_item WHERE status_type_id = 'ORDER_STATUS';
CREATE OR REPLACE VIEW orderql.item_status_value AS
SELECT status_id AS item_status_id FROM status_item WHERE status_type_id = 'ORDER_ITEM_STATUS';
CREATE OR REPLACE VIEW orderql.pick_status_value AS
SELECT status_id AS item_status_id FROM status_item WHERE status_type_id = 'PICKITEM_STATUS';

-- Picklists by facility and date; their bins and items.
SELECT orderql.add_index(name, relation, columns)
FROM (VALUES
    ('oql_picklist_by_date',                 'picklist',      'picklist_date, picklist_id'),
    ('oql_picklist_of_facility_by_date',     'picklist',      'facility_id, picklist_date, picklist_id'),
    ('oql_picklist_of_facility',             'picklist',      'facility_id, picklist_id'),
    ('oql_picklist_bin_of_picklist',         'picklist_bin',  'picklist_id, picklist_bin_id'),
    ('oql_picklist_bin_of_order',            'picklist_bin',  'primary_order_id, picklist_bin_id'),
    ('oql_picklist_item_of_order',           'picklist_item', 'order_id, picklist_bin_id, order_item_seq_id, ship_group_seq_id, inventory_item_id')
) AS listed (name, relation, columns);

ALTER TABLE orderql.user_profile
    ADD COLUMN IF NOT EXISTS updates_per_second INTEGER CHECK (updates_per_second > 0);
