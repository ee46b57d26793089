//! Tables and enums of a database that are called like scalars, like each other, and like what a schema file has already.

use serde_json::json;

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

const SCRIPTS: &str = "
    CREATE TYPE mark AS ENUM ('', ' ', '-', 'EMPTY', 'weiß', 'Да');
    CREATE TABLE \"Straße\" (\"ÄId\" integer PRIMARY KEY, id text, \"Größe\" integer, \"GROSSE\" integer);
    CREATE TABLE \"注文\" (\"注文番号\" integer PRIMARY KEY, \"日本\" text, \"韓国\" text, \"§\" mark, straße integer REFERENCES \"Straße\");
    CREATE INDEX ON \"注文\" (\"§\", \"注文番号\");
    CREATE INDEX ON \"注文\" (straße, \"注文番号\");
    CREATE TABLE \"Заказы\" (\"№\" integer PRIMARY KEY);
    INSERT INTO \"Straße\" VALUES (1, 'id', 2, 3);
    INSERT INTO \"注文\" SELECT n, 'j' || n, 'k' || n, (enum_range(NULL::mark))[n], 1 FROM generate_series(1, 6) AS n";

#[tokio::test(flavor = "multi_thread")]
async fn names_in_other_scripts_and_labels_without_letters_are_kept_apart() {
    let own = OwnSchema::create("scripts", SCRIPTS, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    assert_eq!(own.run(&["schema", "draft", "--update", &own.file()]).stdout, draft);
    for part in [
        "type Strasse @relation(name: \"Straße\", key: [\"ÄId\"]) {\n  aId: ID! @column(name: \"ÄId\")\n  id: String\n",
        "  grosse: Int @column(name: \"Größe\")\n  grosse2: Int @column(name: \"GROSSE\")\n",
        "type ZhuWen @relation(name: \"注文\"",
        "  riBen: String @column(name: \"日本\")\n",
        "type Zakazy @relation(name: \"Заказы\"",
        "  EMPTY @value(text: \"\")\n  U20 @value(text: \" \")\n  U2D @value(text: \"-\")\n  EMPTY2 @value(text: \"EMPTY\")\n  WEISS @value",
    ] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    let served = own.serve(&[]);
    for (label, id) in [("EMPTY", "1"), ("U20", "2"), ("U2D", "3"), ("EMPTY2", "4"), ("WEISS", "5"), ("DA", "6")] {
        let query = format!(
            "{{ found: zhuWens(first: 9, query: \"ua7:{label}\") {{ edges {{ node {{ ua7 riBen strasseStrasse {{ id grosse2 }} }} }} }} }}"
        );
        let response = served.query(&query);
        let node = json!({ "ua7": label, "riBen": format!("j{id}"), "strasseStrasse": { "id": "id", "grosse2": 3 } });
        assert_eq!(response["data"]["found"]["edges"], json!([{ "node": node }]), "{label}: {response}");
    }
}
