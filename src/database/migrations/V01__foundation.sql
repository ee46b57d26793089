-- What the other migrations stand on. All of them run in one transaction, with `search_path` set to `public`, where OFBiz
-- keeps its tables. They serve an empty database and an operator's OFBiz database alike: what is missing is added,
-- what stands is neither altered nor dropped. What is orderql's own is in the schema `orderql`, which is made beforehand, as
-- the history of migrations is kept in it as well.
--
-- PostgreSQL 14 and later.

-- The tables that stood before. Theirs are their operator's keys and indexes; only ours get OFBiz's.
CREATE TEMPORARY TABLE standing ON COMMIT DROP AS
SELECT relname::text AS name
FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f');

-- Adds an index, unless one on the same columns of the table stands under whatever name, or the name is taken.
CREATE OR REPLACE FUNCTION orderql.add_index(
    name text, relation text, columns text, uniquely boolean DEFAULT false
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF to_regclass(quote_ident(name)) IS NOT NULL OR EXISTS (
        SELECT
        FROM pg_index
        WHERE indrelid = quote_ident(relation)::regclass
          AND indisvalid
          AND (indisunique OR NOT uniquely)
          AND substring(pg_get_indexdef(indexrelid) FROM ' USING (.*)$') = format('btree (%s)', columns)
    ) THEN
        RETURN;
    END IF;
    EXECUTE format(
        'CREATE %s %I ON %I (%s)', CASE WHEN uniquely THEN 'UNIQUE INDEX' ELSE 'INDEX' END, name, relation, columns
    );
END;
$$;
