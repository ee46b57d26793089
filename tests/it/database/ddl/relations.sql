## a table is renamed
ALTER TABLE customer RENAME TO buyer
# undo
ALTER TABLE buyer RENAME TO customer

## a view takes a table's place
ALTER TABLE customer RENAME TO buyer; CREATE VIEW customer AS SELECT * FROM buyer
# undo
DROP VIEW customer; ALTER TABLE buyer RENAME TO customer

## a copy takes a table's place
DROP VIEW open_ticket; ALTER TABLE ticket RENAME TO old_ticket; CREATE TABLE ticket (LIKE old_ticket INCLUDING ALL);
INSERT INTO ticket SELECT * FROM old_ticket; DROP TABLE old_ticket;
ALTER TABLE ticket ADD FOREIGN KEY (customer_id) REFERENCES customer;
CREATE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3
# undo
SELECT

## a table moves into another schema
CREATE SCHEMA aside; ALTER TABLE customer SET SCHEMA aside
# undo
ALTER TABLE aside.customer SET SCHEMA public; DROP SCHEMA aside

## a table becomes a partition
ALTER TABLE ticket RENAME TO part; CREATE TABLE ticket (LIKE part, PRIMARY KEY (ticket_id)) PARTITION BY RANGE (ticket_id);
CREATE INDEX ON ticket (state, ticket_id); CREATE INDEX ON ticket (title, ticket_id); CREATE INDEX ON ticket (code, ticket_id);
CREATE INDEX ON ticket (amount, ticket_id); CREATE INDEX ON ticket (weight, ticket_id);
CREATE INDEX ON ticket (opened_at, ticket_id); CREATE INDEX ON ticket (customer_id, ticket_id);
ALTER TABLE ticket ATTACH PARTITION part FOR VALUES FROM (0) TO (1000)
# undo
ALTER TABLE ticket DETACH PARTITION part; DROP TABLE ticket; ALTER TABLE part RENAME TO ticket

## a table gets a child
CREATE TABLE special () INHERITS (customer)
# undo
DROP TABLE special

## a table is not logged
ALTER TABLE ticket DROP CONSTRAINT ticket_customer_id_fkey; ALTER TABLE customer SET UNLOGGED
# undo
ALTER TABLE customer SET LOGGED; ALTER TABLE ticket ADD FOREIGN KEY (customer_id) REFERENCES customer

## a table is emptied and filled
CREATE TABLE kept AS TABLE ticket; TRUNCATE ticket; INSERT INTO ticket SELECT * FROM kept
# undo
DROP TABLE kept

## a table gets a trigger
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER nothing AFTER UPDATE ON ticket EXECUTE FUNCTION nothing()
# undo
DROP FUNCTION nothing CASCADE

## a table gets row security
ALTER TABLE ticket ENABLE ROW LEVEL SECURITY; CREATE POLICY all_rows ON ticket USING (true)
# undo
DROP POLICY all_rows ON ticket; ALTER TABLE ticket DISABLE ROW LEVEL SECURITY

## a table is rewritten
VACUUM FULL ticket
# undo
VACUUM FULL customer

## a view is replaced (answers differ)
CREATE OR REPLACE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 4
# undo
CREATE OR REPLACE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3

## a view is dropped
DROP VIEW open_ticket
# undo
CREATE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3

## a view is made anew with other types
DROP VIEW open_ticket;
CREATE VIEW open_ticket AS SELECT ticket_id::bigint, extra::varchar FROM ticket WHERE customer_id < 3
# undo
DROP VIEW open_ticket; CREATE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3

## a view becomes a materialized one
DROP VIEW open_ticket;
CREATE MATERIALIZED VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3;
CREATE UNIQUE INDEX ON open_ticket (ticket_id)
# undo
DROP MATERIALIZED VIEW open_ticket;
CREATE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3

## a view becomes a table
CREATE TABLE kept AS TABLE open_ticket; DROP VIEW open_ticket; ALTER TABLE kept RENAME TO open_ticket;
ALTER TABLE open_ticket ADD PRIMARY KEY (ticket_id)
# undo
DROP TABLE open_ticket; CREATE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3
