-- A shop for music, as in the Chinook sample database: whole numbers as keys, of several widths, and a UUID.
CREATE TABLE artist (artist_id integer PRIMARY KEY, name text);
CREATE TABLE album (
    album_id  bigint PRIMARY KEY,
    title     text NOT NULL,
    artist_id integer NOT NULL REFERENCES artist
);
CREATE TABLE track (
    track_id     integer PRIMARY KEY,
    name         text NOT NULL,
    album_id     bigint REFERENCES album,
    milliseconds integer NOT NULL,
    unit_price   numeric(10, 2) NOT NULL
);
CREATE TABLE customer (
    customer_id    smallint PRIMARY KEY,
    last_name      text NOT NULL,
    support_rep_id integer,
    account        uuid NOT NULL UNIQUE
);
CREATE TABLE invoice (
    invoice_id  numeric(18, 0) PRIMARY KEY,
    customer_id integer NOT NULL,
    account     uuid NOT NULL,
    total       numeric(10, 2) NOT NULL
);
CREATE TABLE invoice_line (
    invoice_line_id integer PRIMARY KEY,
    invoice_id      numeric(18, 0) NOT NULL REFERENCES invoice,
    track_id        integer NOT NULL REFERENCES track
);

CREATE INDEX ON customer (account, customer_id);
CREATE INDEX ON album (artist_id, album_id);
CREATE INDEX ON track (album_id, track_id);
CREATE INDEX ON invoice (customer_id, invoice_id);
CREATE INDEX ON invoice (account, invoice_id);
CREATE INDEX ON invoice_line (invoice_id, invoice_line_id);
CREATE INDEX ON invoice_line (track_id, invoice_id);

INSERT INTO artist SELECT n, 'Artist ' || n FROM generate_series(1, 12) AS n;
INSERT INTO album SELECT n, 'Album ' || n, (n - 1) / 3 + 1 FROM generate_series(1, 36) AS n;
INSERT INTO track SELECT n, 'Track ' || n, (n - 1) / 4 + 1, n * 1000, 0.99 FROM generate_series(1, 144) AS n;
INSERT INTO customer
SELECT n, 'Customer ' || n, 100 + n % 2, ('00000000-0000-0000-0000-' || lpad(to_hex(n), 12, '0'))::uuid
FROM generate_series(1, 5) AS n;
INSERT INTO invoice
SELECT 900000000000000000 + n, c.customer_id, c.account, n
FROM generate_series(1, 20) AS n JOIN customer AS c ON c.customer_id = n % 5 + 1;
INSERT INTO invoice_line SELECT n, 900000000000000000 + n, n FROM generate_series(1, 20) AS n;
