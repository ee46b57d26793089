//! Enums of columns, which are an enum of the database or text.

use serde_json::{Value, json};

use crate::own_schemas::{OwnSchema, rows};
use crate::support::random::Random;

const TABLES: &str = "
    CREATE SCHEMA work;
    CREATE TYPE work.\"Task State\" AS ENUM ('open', 'in-progress', 'DONE', 'given up');
    CREATE TABLE work.task (
        task_id integer PRIMARY KEY,
        state work.\"Task State\",
        size text,
        flag char(3) NOT NULL
    );
    INSERT INTO work.task
        SELECT n, (ARRAY['open', 'in-progress', 'DONE', 'given up', NULL])[1 + n % 5]::work.\"Task State\",
            (ARRAY['S', 'M', 'extra large', NULL])[1 + n % 4], CASE WHEN n % 2 = 0 THEN 'Y' ELSE 'NO' END
        FROM generate_series(1, 200) AS n;
    CREATE INDEX ON work.task (state, task_id);
    CREATE INDEX ON work.task (size, task_id);
    CREATE INDEX ON work.task (state, size, task_id)";

const SCHEMA: &str = r#"
type Query {
  task(taskId: ID!): Task @point
  taskOfState(state: TaskState!, size: Size!): Task @point
  tasks: [Task]
    @search(key: "state", inOrderOf: ["TASK_ID", "SIZE"])
    @search(key: "size", compare: [EQUALS, IN, RANGE], inOrderOf: ["TASK_ID"])
    @search(key: "flag", indexed: false)
    @sort(key: "TASK_ID")
    @sort(key: "STATE")
    @sort(key: "SIZE")
  stateTotals: [Task] @totals(of: "tasks") @group(key: "state")
}

type Task @relation(name: "work.task", key: ["task_id"]) {
  taskId: ID!
  state: TaskState
  size: Size
  flag: Flag!
}

"How far a task is."
enum TaskState {
  "Nobody has begun."
  OPEN @value(text: "open")
  IN_PROGRESS @value(text: "in-progress")
  DONE
  GIVEN_UP @value(text: "given up") @deprecated(reason: "Nobody gives up.")
}

enum Size { S M XL @value(text: "extra large") }
enum Flag { Y NO }
enum Unused { A }
"#;

/// The names of the values of a column, in SQL.
const STATE: &str = "CASE state WHEN 'open' THEN 'OPEN' WHEN 'in-progress' THEN 'IN_PROGRESS' WHEN 'given up' THEN 'GIVEN_UP' ELSE state::text END";

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_those_of_sql() {
    let own = OwnSchema::create("enum-pages", TABLES, SCHEMA).await;
    assert_eq!(own.check(), "");
    let served = own.serve(&["--bucket-size", "1000000000"]);
    let random = &mut Random(3);
    for _ in 0..60 {
        let mut terms = Vec::new();
        let mut conditions = vec!["TRUE"];
        for (chance, term, condition) in [
            (25, "state:IN_PROGRESS", "state = 'in-progress'"),
            (25, "state:OPEN,DONE,GIVEN_UP", "state IN ('open', 'DONE', 'given up')"),
            (20, "size:XL", "size = 'extra large'"),
            (20, "size:S,XL", "size IN ('S', 'extra large')"),
            (15, "size:>M", "size > 'M'"),
            (15, "flag:Y", "flag = 'Y'"),
            (10, "flag:NO,Y", "TRUE"),
        ] {
            if random.chance(chance) {
                terms.push(term);
                conditions.push(condition);
            }
        }
        let (sort_key, order) =
            *random.pick(&[("TASK_ID", "task_id"), ("STATE", "task.state, task_id"), ("SIZE", "task.size, task_id")]);
        let reverse = random.chance(50);
        let direction = if reverse { "DESC NULLS LAST" } else { "ASC" };
        let order: Vec<_> = order.split(", ").map(|column| format!("{column} {direction}")).collect();
        let sql = format!(
            "SELECT {STATE} AS value FROM work.task WHERE {} ORDER BY {}",
            conditions.join(" AND "),
            order.join(", ")
        );
        let expected = rows(&own.client, &sql).await;
        let arguments = format!("query: \"{}\", sortKey: {sort_key}, reverse: {reverse}", terms.join(" "));
        let size = *random.pick(&[4, 30, 100]);
        let pages = served.pages("tasks", &arguments, "state", size, random.chance(50));
        assert!(pages.values == expected, "tasks({arguments}) by {size}: {:?}\n{expected:?}", pages.values);
    }

    let one = served.query("{ task(taskId: 2) { state size flag } }");
    assert_eq!(one["data"]["task"], json!({ "state": "DONE", "size": "XL", "flag": "Y" }), "{one}");
    let totals = served.query("{ stateTotals(first: 9, groupBy: STATE, orderBy: KEY) { groups { state count } } }");
    let groups = totals["data"]["stateTotals"]["groups"].as_array().unwrap_or_else(|| panic!("{totals}"));
    assert!(groups.contains(&json!({ "state": "IN_PROGRESS", "count": 40 })) && groups.len() == 5, "{totals}");
    for (term, code) in
        [("state:open", "MALFORMED_QUERY"), ("state:BEGUN", "MALFORMED_QUERY"), ("state:>OPEN", "OPERATOR_NOT_ALLOWED")]
    {
        assert_eq!(
            served.error(&format!("{{ tasks(first: 1, query: \"{term}\") {{ edges {{ cursor }} }} }}")).0,
            code,
            "{term}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_not_declared_is_an_error_of_its_field() {
    let own = OwnSchema::create("enum-values", TABLES, SCHEMA).await;
    own.client
        .batch_execute(
            "UPDATE work.task SET size = 'XXL' WHERE task_id = 4; UPDATE work.task SET flag = 'N' WHERE task_id = 7",
        )
        .await
        .unwrap();
    let served = own.serve(&[]);
    let one = served.query("{ task(taskId: 4) { taskId state size } }");
    assert_eq!(one["data"]["task"], json!({ "taskId": "4", "state": null, "size": null }), "{one}");
    assert_eq!(one["errors"][0]["extensions"]["code"], "UNREPRESENTABLE_VALUE", "{one}");
    assert_eq!(one["errors"][0]["path"], json!(["task", "size"]), "{one}");
    assert_eq!(one["errors"].as_array().unwrap().len(), 1, "{one}");
    let one = served.query("{ task(taskId: 7) { taskId flag } }");
    assert_eq!((&one["data"]["task"], &one["errors"][0]["path"]), (&Value::Null, &json!(["task", "flag"])), "{one}");
    // A list goes on.
    let pages = served.pages("tasks", "sortKey: SIZE, query: \"size:>M\"", "taskId", 3, false);
    assert_eq!(pages.values.len(), rows(&own.client, "SELECT 1 FROM work.task WHERE size > 'M'").await.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn enums_are_published_and_found_by_arguments() {
    let tables = format!("{TABLES}; CREATE UNIQUE INDEX ON work.task (state, size, task_id)");
    let own = OwnSchema::create("enum-schema", &tables, SCHEMA).await;
    let served = own.serve(&[]);
    let sdl = served.server.get("/rest/s1/graphql/sdl").body;
    for part in [
        "\n\"How far a task is.\"\nenum TaskState {\n  \"Nobody has begun.\"\n  OPEN\n  IN_PROGRESS\n  DONE\n  GIVEN_UP @deprecated(reason: \"Nobody gives up.\")\n}\n",
        "  state: TaskState\n",
        "- `state`: equals, in; `state:OPEN` (values of `TaskState`)\n",
    ] {
        assert!(sdl.contains(part), "{part}\n{sdl}");
    }
    assert!(!sdl.contains("Unused") && !sdl.contains("in-progress"), "{sdl}");
    let ty = served.query("{ __type(name: \"TaskState\") { kind enumValues(includeDeprecated: true) { name isDeprecated deprecationReason } } some: __type(name: \"TaskState\") { enumValues { name } } }");
    assert_eq!(
        ty["data"]["__type"]["enumValues"][3],
        json!({ "name": "GIVEN_UP", "isDeprecated": true, "deprecationReason": "Nobody gives up." })
    );
    assert_eq!(ty["data"]["some"]["enumValues"].as_array().unwrap().len(), 3);
    let found = |query: &str| served.query(query)["data"]["taskOfState"]["taskId"].clone();
    assert_eq!(found("{ taskOfState(state: IN_PROGRESS, size: M) { taskId } }"), "1");
    let (code, _) = served.error("{ taskOfState(state: BEGUN, size: M) { taskId } }");
    assert_eq!(code, "GRAPHQL_VALIDATION_FAILED");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_names_values_that_the_database_does_not_have() {
    let own = OwnSchema::create("enum-check", TABLES, SCHEMA).await;
    own.write(
        &SCHEMA
            .replace("DONE\n", "DONE\n  WAITING @value(text: \"it's waiting\")\n")
            .replace("  OPEN @value(text: \"open\")\n", "  OPEN @value(text: \"Open\")\n"),
    );
    let errors = own.check();
    for error in [
        "- the enum work.\"Task State\" has no 'Open', 'it''s waiting', which TaskState declares and Task.state has: correct the schema file, or \
         ALTER TYPE work.\"Task State\" ADD VALUE 'Open'; ALTER TYPE work.\"Task State\" ADD VALUE 'it''s waiting';\n",
        "- the enum work.\"Task State\" has 'open', which TaskState does not declare and Task.state may have: add them to the schema file\n",
    ] {
        assert!(errors.contains(error), "{error}\n{errors}");
    }
    own.write(&SCHEMA.replace("enum Flag { Y NO }", "enum Flag { Y NO YES @value(text: \"Y\") }"));
    assert!(own.check().contains("`Flag.YES` is defined twice"), "{}", own.check());
    own.write(
        &SCHEMA
            .replace("flag: Flag!", "flag: Flag! @deprecated")
            .replace("task_id\"]) {", "task_id\"]) {\n  number: Size @column(name: \"task_id\")"),
    );
    assert!(
        own.check().contains("work.task.task_id is of type integer, which Task.number cannot answer as Size"),
        "{}",
        own.check()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_has_the_enums_of_the_database() {
    let own = OwnSchema::create("enum-draft", TABLES, SCHEMA).await;
    let draft = own.run(&["schema", "draft"]).stdout;
    for part in [
        "  state: TaskState\n",
        "    @search(key: \"state\", inOrderOf: [\"TASK_ID\"",
        "    @sort(key: \"STATE\")\n",
        "\nenum TaskState {\n  OPEN @value(text: \"open\")\n  IN_PROGRESS @value(text: \"in-progress\")\n  DONE\n  GIVEN_UP @value(text: \"given up\")\n}\n",
    ] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    own.write(&draft);
    assert_eq!(own.check(), "");
    assert_eq!(own.run(&["schema", "draft", "--update", &own.file()]).stdout, draft);
    own.write(
        &draft
            .replace("  state: TaskState\n", "")
            .replace("enum TaskState", "enum Progress")
            .replace("  size:", "  now: Progress @column(name: \"state\")\n  size:"),
    );
    let updated = own.run(&["schema", "draft", "--update", &own.file()]);
    assert!(!updated.stdout.contains("TaskState"), "{}{}", updated.stdout, updated.stderr);
}
