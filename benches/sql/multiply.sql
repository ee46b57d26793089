-- Multiplies the rows of the tables that the collection roots search, for measurements on a larger database. Apply it with psql
-- to a copy of a filled database, with the factor in the setting bench.times:
--
--     createdb --template=orderql orderql_x10
--     PGOPTIONS='-c bench.times=10' psql --no-psqlrc --set=ON_ERROR_STOP=1 --dbname=orderql_x10 --file=multiply.sql
--
-- A copy of a row gets the suffix .1, .2, … in the columns that identify it or refer to another copy. All other values stay, so
-- states, dates, stores and the products of order items occur the given times as often, and there are as many more ids. Copies
-- follow their originals in the order of ids, and share their dates. Foreign keys stay valid. What is nested in an order or
-- shipment, except for items and ship groups, is not copied; neither are the few facilities whose ids are too long for a suffix.

SET maintenance_work_mem = '512MB';
SET synchronous_commit = off;

-- Foreign keys are not checked: the rows that copies refer to are copied by the same rule.
SET session_replication_role = replica;

DO $$
DECLARE
    copies CONSTANT integer := current_setting('bench.times')::integer - 1;
    source record;
    name text;
    columns text;
    expressions text;
    has_space text;
    dropped text[];
    definitions text[];
    definition text;
    started timestamptz;
    added bigint;
BEGIN
    FOR source IN
        SELECT relation::regclass, own
        FROM (VALUES
            ('party',                       '{party_id, external_id}'::text[]),
            ('person',                      '{party_id}'),
            ('party_group',                 '{party_id}'),
            ('party_role',                  '{party_id}'),
            ('facility',                    '{facility_id, external_id, parent_facility_id}'),
            ('product_store',               '{product_store_id}'),
            ('product',                     '{product_id, internal_name}'),
            ('good_identification',         '{product_id, id_value}'),
            ('product_price',               '{product_id}'),
            ('product_feature_appl',        '{product_id}'),
            ('product_attribute',           '{product_id}'),
            ('product_keyword_new',         '{product_id}'),
            ('inventory_item',              '{inventory_item_id, product_id, serial_number}'),
            ('product_facility',            '{product_id, inventory_item_id}'),
            ('order_header',                '{order_id, external_id, order_name}'),
            ('order_item_ship_group',       '{order_id}'),
            ('order_item',                  '{order_id, external_id, shipment_id}'),
            ('return_header',               '{return_id, external_id, from_party_id}'),
            ('return_item',                 '{return_id, order_id}'),
            ('shipment',                    '{shipment_id, external_id, primary_order_id, primary_return_id}'),
            ('shipment_item',               '{shipment_id}'),
            ('order_shipment',              '{order_id, shipment_id}'),
            ('order_item_ship_grp_inv_res', '{order_id, shipment_id}'),
            ('item_issuance',               '{item_issuance_id, order_id, shipment_id, return_id}'),
            ('shipment_receipt',            '{receipt_id, order_id, return_id, shipment_id}')
        ) AS listed (relation, own)
    LOOP
        started := clock_timestamp();

        -- Building an index takes less time than adding as many entries.
        SELECT array_agg(index.indexrelid::regclass), array_agg(pg_get_indexdef(index.indexrelid))
        INTO dropped, definitions
        FROM pg_index AS index
        WHERE index.indrelid = source.relation AND NOT index.indisunique;
        FOREACH name IN ARRAY COALESCE(dropped, '{}') LOOP
            EXECUTE 'DROP INDEX ' || name;
        END LOOP;

        -- Triggers fill tables of orderql's own, also of copies.
        FOR name IN SELECT tgname FROM pg_trigger WHERE tgrelid = source.relation AND NOT tgisinternal LOOP
            EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', source.relation, name);
        END LOOP;

        SELECT
            string_agg(quote_ident(attname), ', ' ORDER BY attnum),
            string_agg(
                CASE
                    WHEN attname = ANY (source.own) THEN format('%I || ''.'' || number_of_copy', attname)
                    ELSE quote_ident(attname)
                END,
                ', ' ORDER BY attnum
            ),
            string_agg(format('length(%I) < %s', attname, atttypmod - 4 - length(copies::text)), ' AND ')
                FILTER (WHERE attname = ANY (source.own) AND atttypmod > 0 AND attnotnull)
        INTO columns, expressions, has_space
        FROM pg_attribute
        WHERE attrelid = source.relation AND attnum > 0 AND NOT attisdropped AND attgenerated = '';

        -- The copies of a row are stored side by side, as rows of about the same time are.
        EXECUTE format(
            'INSERT INTO %1$s (%2$s)
             SELECT %3$s FROM (SELECT *, generate_series(1, %4$s) AS number_of_copy FROM %1$s WHERE %5$s) AS row',
            source.relation, columns, expressions, copies, COALESCE(has_space, 'true')
        );
        GET DIAGNOSTICS added = ROW_COUNT;

        FOR name IN SELECT tgname FROM pg_trigger WHERE tgrelid = source.relation AND NOT tgisinternal LOOP
            EXECUTE format('ALTER TABLE %s ENABLE TRIGGER %I', source.relation, name);
        END LOOP;
        -- The unique indexes are half empty after so many entries between others.
        FOR name IN SELECT indexrelid::regclass FROM pg_index WHERE indrelid = source.relation LOOP
            EXECUTE 'REINDEX INDEX ' || name;
        END LOOP;
        FOREACH definition IN ARRAY COALESCE(definitions, '{}') LOOP
            EXECUTE definition;
        END LOOP;
        COMMIT;
        RAISE NOTICE '%: % rows added in % s', source.relation, added,
            round(extract(epoch FROM clock_timestamp() - started)::numeric, 1);
    END LOOP;
END;
$$;

RESET session_replication_role;
VACUUM (ANALYZE);
CHECKPOINT;
