## a label that no row has is dropped
CREATE TYPE new_state AS ENUM ('NEW', 'OPEN', 'CLOSED');
ALTER TABLE ticket ALTER state TYPE new_state USING state::text::new_state;
DROP TYPE state; ALTER TYPE new_state RENAME TO state
# undo
CREATE TYPE new_state AS ENUM ('NEW', 'OPEN', 'CLOSED', 'LOST');
ALTER TABLE ticket ALTER state TYPE new_state USING state::text::new_state;
DROP TYPE state; ALTER TYPE new_state RENAME TO state

## labels are put into another order (answers differ)
CREATE TYPE new_state AS ENUM ('LOST', 'CLOSED', 'OPEN', 'NEW');
ALTER TABLE ticket ALTER state TYPE new_state USING state::text::new_state;
DROP TYPE state; ALTER TYPE new_state RENAME TO state
# undo
CREATE TYPE new_state AS ENUM ('NEW', 'OPEN', 'CLOSED', 'LOST');
ALTER TABLE ticket ALTER state TYPE new_state USING state::text::new_state;
DROP TYPE state; ALTER TYPE new_state RENAME TO state

## a label is added
ALTER TYPE state ADD VALUE 'WAITING' BEFORE 'OPEN'
# undo
CREATE TYPE new_state AS ENUM ('NEW', 'OPEN', 'CLOSED', 'LOST');
ALTER TABLE ticket ALTER state TYPE new_state USING state::text::new_state;
DROP TYPE state; ALTER TYPE new_state RENAME TO state

## a label is renamed
ALTER TYPE state RENAME VALUE 'OPEN' TO 'OPENED'
# undo
ALTER TYPE state RENAME VALUE 'OPENED' TO 'OPEN'

## an enum is renamed
ALTER TYPE state RENAME TO status
# undo
ALTER TYPE status RENAME TO state

## an enum moves into another schema
CREATE SCHEMA aside; ALTER TYPE state SET SCHEMA aside
# undo
ALTER TYPE aside.state SET SCHEMA public; DROP SCHEMA aside

## an enum becomes text (answers differ)
ALTER TABLE ticket ALTER state TYPE text
# undo
ALTER TABLE ticket ALTER state TYPE state USING state::state

## a text becomes a name
ALTER TABLE ticket ALTER title TYPE name
# undo
ALTER TABLE ticket ALTER title TYPE text

## a text becomes a varchar
ALTER TABLE ticket ALTER title TYPE varchar(60)
# undo
ALTER TABLE ticket ALTER title TYPE text

## a text gets a collation
ALTER TABLE ticket ALTER title TYPE text COLLATE "POSIX"
# undo
ALTER TABLE ticket ALTER title TYPE text COLLATE "default"

## a text becomes a domain
CREATE DOMAIN heading AS text; ALTER TABLE ticket ALTER title TYPE heading
# undo
ALTER TABLE ticket ALTER title TYPE text; DROP DOMAIN heading

## a varchar gets longer
ALTER TABLE ticket ALTER code TYPE varchar(40)
# undo
ALTER TABLE ticket ALTER code TYPE varchar(20)

## a varchar becomes a text
ALTER TABLE ticket ALTER code TYPE text
# undo
ALTER TABLE ticket ALTER code TYPE varchar(20)

## an integer gets wider
ALTER TABLE ticket ALTER weight TYPE bigint
# undo
ALTER TABLE ticket ALTER weight TYPE integer

## an integer gets narrower
ALTER TABLE ticket ALTER weight TYPE smallint
# undo
ALTER TABLE ticket ALTER weight TYPE integer

## an integer becomes a decimal
ALTER TABLE ticket ALTER weight TYPE numeric
# undo
ALTER TABLE ticket ALTER weight TYPE integer

## an integer becomes a text
ALTER TABLE ticket ALTER weight TYPE text
# undo
ALTER TABLE ticket ALTER weight TYPE integer USING weight::integer

## an integer becomes a boolean
ALTER TABLE ticket ADD kept integer; UPDATE ticket SET kept = weight;
ALTER TABLE ticket ALTER weight TYPE boolean USING weight > 2
# undo
ALTER TABLE ticket ALTER weight TYPE integer USING kept; ALTER TABLE ticket DROP kept

## a decimal gets another scale (answers differ)
ALTER TABLE ticket ALTER amount TYPE numeric(12, 4)
# undo
ALTER TABLE ticket ALTER amount TYPE numeric(10, 2)

## a decimal gets no scale
ALTER TABLE ticket ALTER amount TYPE numeric
# undo
ALTER TABLE ticket ALTER amount TYPE numeric(10, 2)

## a decimal becomes a float
ALTER TABLE ticket ALTER amount TYPE double precision
# undo
ALTER TABLE ticket ALTER amount TYPE numeric(10, 2)

## a moment loses its zone
ALTER TABLE ticket ALTER opened_at TYPE timestamp USING opened_at AT TIME ZONE 'UTC'
# undo
ALTER TABLE ticket ALTER opened_at TYPE timestamptz USING opened_at AT TIME ZONE 'UTC'

## a moment becomes a date
ALTER TABLE ticket ALTER opened_at TYPE date USING (opened_at AT TIME ZONE 'UTC')::date
# undo
ALTER TABLE ticket ALTER opened_at TYPE timestamptz USING opened_at::timestamp AT TIME ZONE 'UTC'

## a moment keeps whole seconds
ALTER TABLE ticket ALTER opened_at TYPE timestamptz(0)
# undo
ALTER TABLE ticket ALTER opened_at TYPE timestamptz

## a key gets wider
DROP VIEW open_ticket; ALTER TABLE ticket ALTER ticket_id TYPE bigint;
CREATE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3
# undo
DROP VIEW open_ticket; ALTER TABLE ticket ALTER ticket_id TYPE integer;
CREATE VIEW open_ticket AS SELECT ticket_id, extra FROM ticket WHERE customer_id < 3
