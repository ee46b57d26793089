CREATE SCHEMA loyalty;
CREATE TABLE loyalty.card (card_id text PRIMARY KEY, number int NOT NULL, name text, points numeric(9, 2), is_open boolean);
CREATE TABLE loyalty.booking (
    card_id text NOT NULL, booked timestamptz NOT NULL, store_id text, points numeric(9, 2) NOT NULL,
    PRIMARY KEY (card_id, booked)
);
CREATE INDEX ON loyalty.card (number, card_id);
CREATE INDEX ON loyalty.card (name, card_id);
CREATE INDEX ON loyalty.booking (store_id, card_id);

INSERT INTO loyalty.card VALUES
    ('A', 10, 'Ada', 12.50, true), ('B', 9, 'Bo', 0, false), ('C', 100, NULL, NULL, NULL), ('D', 11, 'Ada', 3, true);
INSERT INTO loyalty.booking VALUES
    ('A', '2026-05-01 08:00:00.000001Z', 'NORTH', 10), ('A', '2026-05-01 08:00:00.000002Z', 'SOUTH', 2.5),
    ('D', '2026-05-02 08:00:00Z', 'SOUTH', 3);
