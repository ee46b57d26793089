## an index is added
CREATE INDEX more ON ticket (extra, ticket_id)
# undo
DROP INDEX more

## an index is made beside writers
CREATE INDEX CONCURRENTLY more ON ticket (extra)
# undo
DROP INDEX CONCURRENTLY more

## an index is dropped
DROP INDEX ticket_code
# undo
CREATE INDEX ticket_code ON ticket (code, ticket_id)

## an index is renamed
ALTER INDEX ticket_code RENAME TO code
# undo
ALTER INDEX code RENAME TO ticket_code

## an index gets a predicate
DROP INDEX ticket_code; CREATE INDEX ticket_code ON ticket (code, ticket_id) WHERE weight > 0
# undo
DROP INDEX ticket_code; CREATE INDEX ticket_code ON ticket (code, ticket_id)

## indexes are made anew
REINDEX TABLE ticket
# undo
REINDEX TABLE CONCURRENTLY ticket

## the primary key is dropped
ALTER TABLE ticket DROP CONSTRAINT ticket_pkey
# undo
ALTER TABLE ticket ADD PRIMARY KEY (ticket_id)

## the primary key is renamed
ALTER TABLE ticket RENAME CONSTRAINT ticket_pkey TO key
# undo
ALTER TABLE ticket RENAME CONSTRAINT key TO ticket_pkey

## a foreign key is dropped
ALTER TABLE ticket DROP CONSTRAINT ticket_customer_id_fkey
# undo
ALTER TABLE ticket ADD FOREIGN KEY (customer_id) REFERENCES customer

## a check is added
ALTER TABLE ticket ADD CONSTRAINT positive CHECK (weight >= 0)
# undo
ALTER TABLE ticket DROP CONSTRAINT positive

## statistics are made
CREATE STATISTICS related ON state, code FROM ticket; ANALYZE ticket
# undo
DROP STATISTICS related

## a table gets another replica identity
ALTER TABLE ticket REPLICA IDENTITY FULL
# undo
ALTER TABLE ticket REPLICA IDENTITY DEFAULT

## a function is named like one of PostgreSQL's
CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT 'x'$$
# undo
DROP FUNCTION public.lower(text)

## an operator is named like one of PostgreSQL's
CREATE FUNCTION never(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false';
CREATE OPERATOR = (FUNCTION = never, LEFTARG = text, RIGHTARG = text)
# undo
DROP FUNCTION never CASCADE

## a type is named like one of PostgreSQL's
CREATE DOMAIN public.text AS pg_catalog.text
# undo
DROP DOMAIN public.text

## a setting of the database is changed
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET enable_sort = off', current_database()); END $$
# undo
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET ALL', current_database()); END $$
