-- Tables in the manner of Chinook: a shop for music, with quoted names in camel case.
CREATE TABLE "Artist" ("ArtistId" integer PRIMARY KEY, "Name" varchar(120));
CREATE TABLE "Album" (
    "AlbumId"  integer PRIMARY KEY,
    "Title"    varchar(160) NOT NULL,
    "ArtistId" integer NOT NULL REFERENCES "Artist"
);
CREATE INDEX "IFK_AlbumArtistId" ON "Album" ("ArtistId");
CREATE TABLE "Employee" (
    "EmployeeId" integer PRIMARY KEY,
    "LastName"   varchar(20) NOT NULL,
    "ReportsTo"  integer REFERENCES "Employee",
    "BirthDate"  timestamp
);
CREATE INDEX ON "Employee" ("ReportsTo", "EmployeeId");
CREATE TABLE "Customer" (
    "CustomerId"   integer PRIMARY KEY,
    "Email"        varchar(60) NOT NULL,
    "SupportRepId" integer REFERENCES "Employee"
);
CREATE UNIQUE INDEX ON "Customer" ("Email");
CREATE INDEX ON "Customer" ("Email", "CustomerId");
CREATE TABLE "Track" (
    "TrackId"      integer PRIMARY KEY,
    "Name"         varchar(200) NOT NULL,
    "AlbumId"      integer REFERENCES "Album",
    "Milliseconds" integer NOT NULL,
    "Bytes"        bigint,
    "UnitPrice"    numeric(10, 2) NOT NULL
);
CREATE INDEX ON "Track" ("AlbumId", "TrackId");
CREATE INDEX ON "Track" ("UnitPrice", "TrackId");
CREATE INDEX ON "Track" ("Milliseconds", "TrackId") INCLUDE ("Name");
CREATE TABLE "Playlist" ("PlaylistId" integer PRIMARY KEY, "Name" varchar(120));
CREATE TABLE "PlaylistTrack" (
    "PlaylistId" integer NOT NULL REFERENCES "Playlist",
    "TrackId"    integer NOT NULL REFERENCES "Track",
    PRIMARY KEY ("PlaylistId", "TrackId")
);
CREATE INDEX ON "PlaylistTrack" ("TrackId", "PlaylistId");
COMMENT ON TABLE "Track" IS 'A piece of "music",
or noise.';
COMMENT ON COLUMN "Track"."UnitPrice" IS 'In the currency of the shop.';

INSERT INTO "Artist" SELECT n, 'Artist ' || n FROM generate_series(1, 8) AS n;
INSERT INTO "Album" SELECT n, 'Album ' || n, 1 + n % 8 FROM generate_series(1, 20) AS n;
INSERT INTO "Employee" SELECT n, 'Name ' || n, NULLIF(n / 2, 0), '1970-01-01'::timestamp + n * interval '1 day 1 ms'
    FROM generate_series(1, 6) AS n;
INSERT INTO "Customer" SELECT n, 'c' || n || '@example.com', NULLIF(n % 4, 0) FROM generate_series(1, 12) AS n;
INSERT INTO "Track" SELECT n, 'Track ' || n, NULLIF(n % 21, 0), n % 7 * 1000, NULLIF(n % 5, 0) * 10000000000, n % 3 + 0.99
    FROM generate_series(1, 70) AS n;
INSERT INTO "Playlist" SELECT n, NULL FROM generate_series(1, 4) AS n;
INSERT INTO "PlaylistTrack" SELECT 1 + n % 4, n FROM generate_series(1, 70) AS n;
