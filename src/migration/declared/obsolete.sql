-- What earlier versions made and this one does not need; run once, where the database has no record of what was applied. Functions and views of
-- the schema orderql that are not declared go as well.
DROP TABLE IF EXISTS orderql.schema_history, orderql.service_history;

-- With the default of a column that took ids from it.
DROP SEQUENCE IF EXISTS orderql.shipment_status_id CASCADE;

-- Views that reserved the names of indexes, where a run was interrupted.
DO $$
DECLARE
    reserved text;
BEGIN
    FOR reserved IN
        SELECT viewname FROM pg_views
        WHERE schemaname = 'public' AND viewname LIKE 'oql\_%' AND definition ~ '^\s*SELECT 1 AS placeholder;$'
    LOOP
        EXECUTE format('DROP VIEW public.%I', reserved);
    END LOOP;
END;
$$;
