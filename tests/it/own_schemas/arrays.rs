//! Arrays of enums and of domains as lists.

use serde_json::json;

use crate::own_schemas::OwnSchema;

const TABLES: &str = "
    CREATE TYPE mood AS ENUM ('fine', 'so-so', 'BAD');
    CREATE DOMAIN day AS date;
    CREATE DOMAIN holiday AS day;
    CREATE DOMAIN feeling AS mood;
    CREATE DOMAIN code AS varchar(5) CHECK (VALUE <> '');
    CREATE DOMAIN codes AS code[] CHECK (cardinality(VALUE) < 2000);
    CREATE TABLE diary (
        diary_id integer PRIMARY KEY,
        moods mood[] NOT NULL,
        feelings feeling[],
        holidays holiday[],
        codes codes,
        amounts numeric(8, 2)[],
        words text[]
    );
    INSERT INTO diary VALUES
        (1, '{fine,so-so,BAD}', '{BAD,NULL}', '{2026-11-24,NULL}', '{a,\"b\\\"\"}', '{1.50,NULL}', '{fine,BAD}'),
        (2, '{}', NULL, '{}', '{}', NULL, '{NULL}'),
        (3, '{NULL}', '{{fine,fine}}', '{infinity}', array_fill('x'::code, ARRAY[1001]), NULL, '{fine,worse}'),
        (4, array_fill('BAD'::mood, ARRAY[1000]), '[5:6]={fine,BAD}', NULL, NULL, NULL, NULL)";

const SCHEMA: &str = r#"
type Query { diary(diaryId: ID!): Diary @point }

type Diary @relation(name: "diary", key: ["diary_id"]) {
  diaryId: ID!
  moods: [Mood!]!
  feelings: [Mood]
  holidays: [Date]
  codes: [String!]
  amounts: [Decimal]
  words: [Mood]
}

enum Mood { FINE @value(text: "fine") SO_SO @value(text: "so-so") BAD }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn lists_have_the_elements_of_arrays() {
    let own = OwnSchema::create("arrays", TABLES, SCHEMA).await;
    assert_eq!(own.check(), "");
    let served = own.serve(&[]);
    let diary = |id: u32| {
        let fields = "moods feelings holidays codes amounts words";
        let response = served.query(&format!("{{ diary(diaryId: {id}) {{ {fields} }} }}"));
        let errors = response["errors"].as_array().cloned().unwrap_or_default();
        assert!(errors.iter().all(|error| error["extensions"]["code"] == "UNREPRESENTABLE_VALUE"), "{response}");
        let paths = errors.iter().map(|error| error["path"][1].as_str().unwrap_or_default().to_owned());
        (response["data"]["diary"].clone(), paths.collect::<Vec<_>>().join(" "))
    };
    let first = json!({
        "moods": ["FINE", "SO_SO", "BAD"], "feelings": ["BAD", null], "holidays": ["2026-11-24", null], "codes": ["a", "b\""],
        "amounts": ["1.50", null], "words": ["FINE", "BAD"]
    });
    assert_eq!(diary(1), (first, String::new()));
    let empty = json!({
        "moods": [], "feelings": null, "holidays": [], "codes": [], "amounts": null, "words": [null]
    });
    assert_eq!(diary(2), (empty, String::new()));
    // A null among elements that are non-null, two dimensions, no day, too many elements, and no value of the enum.
    let (object, paths) = diary(3);
    assert!(object.is_null() && paths.contains("moods"), "{object} {paths}");
    own.client.batch_execute("UPDATE diary SET moods = '{}' WHERE diary_id = 3").await.unwrap();
    let none =
        json!({ "moods": [], "feelings": null, "holidays": null, "codes": null, "amounts": null, "words": null });
    assert_eq!(diary(3), (none, "feelings holidays codes words".to_owned()));
    let (object, paths) = diary(4);
    assert_eq!((object["moods"].as_array().unwrap().len(), &object["feelings"]), (1000, &json!(["FINE", "BAD"])));
    assert_eq!(paths, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_compares_their_enums_and_refuses_other_types() {
    let own = OwnSchema::create("array-check", TABLES, SCHEMA).await;
    own.write(&SCHEMA.replace("SO_SO @value(text: \"so-so\")", "SOSO").replace("holidays: [Date]", "holidays: [Time]"));
    let errors = own.check();
    for error in [
        "- the enum public.mood has no 'SOSO', which Mood declares and Diary.moods has: ",
        "- the enum public.mood has 'so-so', which Mood does not declare and Diary.moods may have: ",
        "- diary.holidays is of type holiday[], which Diary.holidays cannot answer as a list of Time: ",
    ] {
        assert!(errors.contains(error), "{error}\n{errors}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_has_them_as_lists() {
    let own = OwnSchema::create("array-draft", TABLES, SCHEMA).await;
    let draft = own.run(&["schema", "draft"]).stdout;
    for line in [
        // However many elements a row has, it does not make the page of the row null.
        "  moods: [Mood]\n",
        "  feelings: [Mood]\n",
        "  holidays: [Date]\n",
        "  codes: [String]\n",
        "\nenum Mood {\n  FINE @value(text: \"fine\")\n  SO_SO @value(text: \"so-so\")\n  BAD\n}\n",
        "    # no search and no order by feelings: feeling[] is not compared\n",
    ] {
        assert!(draft.contains(line), "{line}\n{draft}");
    }
    own.write(&draft);
    assert_eq!(own.check(), "");
    assert_eq!(own.run(&["schema", "draft", "--update", &own.file()]).stdout, draft);
}
