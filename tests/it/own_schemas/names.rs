//! Tables and enums of a database that are called like scalars, like each other, and like what a schema file has already.

use crate::own_schemas::OwnSchema;

const TABLES: &str = "
    CREATE SCHEMA other;
    CREATE TYPE compare AS ENUM ('A', 'B');
    CREATE TYPE other.date AS ENUM ('FIRST', 'LAST');
    CREATE TYPE other.status AS ENUM ('true', 'null', 'in use');
    CREATE TABLE date (date_id integer PRIMARY KEY, day date, time time, kind other.date);
    CREATE TABLE time (time_id integer PRIMARY KEY, date_id integer REFERENCES date, at time);
    CREATE INDEX ON time (date_id, time_id);
    CREATE TABLE interval (interval_id integer PRIMARY KEY, span interval, compared compare);
    CREATE TABLE \"JSON\" (id integer PRIMARY KEY, json json, status other.status);
    CREATE TABLE statuses (status_id integer PRIMARY KEY, status other.status)";

const LATER: &str = "
    CREATE TYPE unused AS ENUM ('X');
    CREATE TYPE bytes AS ENUM ('Y');
    CREATE TABLE uuid (uuid uuid PRIMARY KEY, bytes bytea, one bytes, other unused);
    CREATE TABLE time_unit (time_unit_id integer PRIMARY KEY, normalization compare);
    CREATE TABLE compare_values (compare_value_id integer PRIMARY KEY)";

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_gives_each_a_name_of_its_own() {
    let own = OwnSchema::create("names", TABLES, "").await;
    let draft = || own.run(&["schema", "draft"]).stdout;
    let first = draft();
    for line in [
        "type PublicDate @relation(name: \"date\", key: [\"date_id\"]) {\n",
        "  day: Date\n",
        "  kind: DateValue\n",
        "type PublicTime @relation(name: \"time\"",
        "type PublicInterval @relation(name: \"interval\"",
        "  span: Interval\n",
        "type Json @relation(name: \"JSON\"",
        "  json: JSON\n",
        "type Status @relation(name: \"statuses\"",
        "  status: StatusValue\n",
        "\nenum CompareValue {\n  A\n  B\n}\n",
        "\nenum StatusValue {\n",
    ] {
        assert!(first.contains(line), "{line}\n{first}");
    }
    own.write(&first);
    assert_eq!(own.check(), "", "{first}");
    assert_eq!(draft(), first);
    let updated = || own.run(&["schema", "draft", "--update", &own.file()]).stdout;
    assert_eq!(updated(), first);

    // The file has names that the draft would give.
    own.write(&(first + "\nenum Unused { P }\nenum TimeUnit { Q }\n"));
    own.client.batch_execute(LATER).await.unwrap();
    let second = updated();
    for line in [
        "  one: BytesValue\n",
        "  other: UnusedValue\n",
        "  normalization: CompareValue\n",
        "type CompareValues @relation(name: \"compare_values\"",
    ] {
        assert!(second.contains(line), "{line}\n{second}");
    }
    own.write(&second);
    assert_eq!(own.check(), "", "{second}");
    assert_eq!(updated(), second);
}
