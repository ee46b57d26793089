-- Tables in the manner of Pagila: a shop for films, with an enum, a domain, arrays, views, partitions and composite keys.
CREATE TYPE mpaa_rating AS ENUM ('G', 'PG', 'R');
CREATE DOMAIN year AS integer CHECK (VALUE BETWEEN 1901 AND 2155);
CREATE SCHEMA people;
CREATE TABLE language (language_id integer PRIMARY KEY, name varchar(20) NOT NULL);
CREATE TABLE category (category_id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE film (
    film_id              integer PRIMARY KEY,
    title                text NOT NULL,
    release_year         year,
    language_id          integer NOT NULL REFERENCES language,
    original_language_id integer REFERENCES language,
    length               smallint,
    replacement_cost     numeric(5, 2) NOT NULL,
    rating               mpaa_rating,
    special_features     text[],
    fulltext             tsvector,
    released             date,
    is_old               boolean NOT NULL,
    last_update          timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON film (title, film_id);
CREATE INDEX ON film (language_id, film_id);
CREATE INDEX ON film (original_language_id, film_id);
CREATE INDEX ON film (length, film_id);
CREATE INDEX ON film (last_update DESC, film_id);
CREATE INDEX ON film (released, film_id);
CREATE INDEX ON film (is_old, film_id);
CREATE INDEX ON film (replacement_cost) WHERE is_old;
CREATE INDEX ON film (lower(title));
CREATE INDEX ON film USING hash (rating);
CREATE TABLE people.actor (actor_id uuid PRIMARY KEY, last_name text NOT NULL);
CREATE TABLE film_actor (
    actor_id uuid NOT NULL REFERENCES people.actor,
    film_id  integer NOT NULL REFERENCES film,
    PRIMARY KEY (actor_id, film_id)
);
CREATE INDEX ON film_actor (film_id, actor_id);
CREATE TABLE film_category (
    film_id     integer NOT NULL REFERENCES film,
    category_id integer NOT NULL REFERENCES category,
    PRIMARY KEY (film_id, category_id)
);
CREATE TABLE payment (
    payment_id   bigint NOT NULL,
    film_id      integer NOT NULL,
    amount       numeric(12, 0) NOT NULL,
    payment_date timestamp NOT NULL,
    PRIMARY KEY (payment_date, payment_id)
) PARTITION BY RANGE (payment_date);
CREATE TABLE payment_2022_01 PARTITION OF payment FOR VALUES FROM ('2022-01-01') TO ('2022-02-01');
CREATE TABLE payment_2022_02 PARTITION OF payment FOR VALUES FROM ('2022-02-01') TO ('2022-03-01');
CREATE INDEX ON payment (film_id, payment_date, payment_id);
CREATE TABLE rental_note (note text, UNIQUE (note));
CREATE TABLE film_edge (film_edge_id integer PRIMARY KEY);
CREATE TABLE films (films_id integer PRIMARY KEY);
CREATE VIEW film_list AS SELECT film_id, title FROM film;
CREATE MATERIALIZED VIEW sales AS SELECT film_id, sum(amount) AS amount FROM payment GROUP BY film_id;
CREATE UNIQUE INDEX ON sales (film_id);

INSERT INTO language SELECT n, 'Language ' || n FROM generate_series(1, 3) AS n;
INSERT INTO category SELECT n, 'Category ' || n FROM generate_series(1, 4) AS n;
INSERT INTO film SELECT n, 'Film ' || n % 9, 1990 + n, 1 + n % 3, NULLIF(n % 4, 0), NULLIF(n % 5, 0), n * 1.25, 'PG', '{}', NULL,
        '2001-02-03'::date + n, n % 2 = 0, '2022-01-01'::timestamptz + n * interval '1 hour 1 microsecond'
    FROM generate_series(1, 40) AS n;
INSERT INTO people.actor
    SELECT ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, 'Actor ' || n FROM generate_series(1, 9) AS n;
INSERT INTO film_actor SELECT actor_id, n FROM people.actor, generate_series(1, 5) AS n;
INSERT INTO film_category SELECT n, 1 + n % 4 FROM generate_series(1, 40) AS n;
INSERT INTO payment SELECT n, 1 + n % 40, n, '2022-01-20'::timestamp + n * interval '1 hour' FROM generate_series(1, 60) AS n;
REFRESH MATERIALIZED VIEW sales;
