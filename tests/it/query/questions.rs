//! Questions of people who run orders, each answered by one request to a server on the demo orders. `docs/examples.md` has the
//! questions, queries and answers.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use orderql::access::profile::Profile;
use serde::Deserialize;
use serde_json::Value;

use crate::support::database::loaded_database;
use crate::support::naive_resolver::json::Json;
use crate::support::server::Server;
use crate::support::users::create_users;

/// The fewest questions that one request answers.
const ANSWERED: usize = 105;

/// The characters of a line, but for longer texts.
const WIDTH: usize = 120;

const INTRODUCTION: &str = "# Examples

Questions of people who run orders, each with a query and its answer. The data are the demo data of OFBiz and the orders in
`tests/data/orders`. A test writes this page: it asks a server.
";

/// Who asks which questions.
const ROLES: &str = include_str!("../../questions/roles.txt");

/// A question, from a file in `tests/questions`: its comment is the question, or for some says why there is no query.
struct Question {
    text: String,
    /// Why nothing answers it.
    unanswered: Option<String>,
    query: String,
}

impl Question {
    fn read(path: &Path) -> Self {
        let file = fs::read_to_string(path).unwrap();
        let comment: Vec<_> = file.lines().map_while(|line| line.strip_prefix("# ")).collect();
        let query: Vec<_> = file.lines().skip(comment.len()).collect();
        let comment = comment.join(" ");
        let (text, unanswered) = match comment.split_once(" Not answered: ") {
            Some((text, reason)) => (text.to_owned(), Some(reason.to_owned())),
            None => (comment, None),
        };
        assert!(text.ends_with('?') && query.is_empty() == unanswered.is_some(), "{}", path.display());
        Self { text, unanswered, query: query.join("\n") }
    }
}

/// The number before a file's name.
fn number(path: &Path) -> u32 {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.split_once('-').unwrap().0.parse().unwrap()
}

/// `UPDATE_DOCS=1 cargo nextest run questions` writes the page anew.
#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_by_one_request_each() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> =
        fs::read_dir(root.join("tests/questions")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "graphql"));
    paths.sort_by_key(|path| number(path));
    let questions: Vec<_> = paths.iter().map(|path| Question::read(path)).collect();
    assert!(questions.iter().filter(|question| question.unanswered.is_none()).count() >= ANSWERED);

    let database = loaded_database().await;
    let mut client = database.connect().await;
    client.batch_execute(include_str!("../../questions/prepare.sql")).await.unwrap();
    // The limits of a query are those of every caller.
    let profile = Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT };
    create_users(&mut client, &[("demo", profile)]).await;
    let server = Server::start(&database, &[]);
    let token = server.token("demo");

    let mut page = format!("{INTRODUCTION}{}", index(&questions));
    for (question, number) in questions.iter().zip(1..) {
        let Question { text, unanswered, query } = question;
        write!(page, "\n## {number}. {text}\n\n").unwrap();
        if let Some(reason) = unanswered {
            writeln!(page, "No query answers this: {reason}").unwrap();
            continue;
        }
        let response = server.query(&token, query);
        let body = response.json();
        assert_eq!((body.get("errors"), body["extensions"].get("search")), (None, None), "{text}\n{body:#}");
        assert!(changes_token(&body).is_some() || has_value(&body["data"]), "{text}\n{body:#}");
        let cost = &body["extensions"]["cost"]["requestedQueryCost"];
        let Answer { data } = serde_json::from_str(&without_token(&response.body, &body)).unwrap();
        let data = pretty(&data, 0);
        write!(page, "```graphql\n{query}\n```\n\n").unwrap();
        let summary = format!("The answer, for {cost} credits");
        write!(page, "<details><summary>{summary}</summary>\n\n```json\n{data}\n```\n\n</details>\n").unwrap();
    }
    let path = root.join("docs/examples.md");
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == page, "run this test with UPDATE_DOCS=1");
}

/// Links to the questions, by the role of who asks.
fn index(questions: &[Question]) -> String {
    let mut index = String::new();
    let mut without_role: BTreeSet<_> = (1..=questions.len()).collect();
    for line in ROLES.lines().filter(|line| !line.starts_with('#')) {
        let (role, numbers) = line.split_once(": ").unwrap();
        write!(index, "\n**{role}**\n\n").unwrap();
        for number in numbers.split(' ').map(|number| number.parse::<usize>().unwrap()) {
            let text = &questions[number - 1].text;
            without_role.remove(&number);
            writeln!(index, "- [{number}. {text}](#{})", anchor(&format!("{number}. {text}"))).unwrap();
        }
    }
    assert!(without_role.is_empty(), "{without_role:?} are in no line of roles.txt");
    index
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

/// The token of changes that a response has.
fn changes_token(body: &Value) -> Option<&str> {
    let roots = body["data"].as_object().unwrap().iter();
    let mut changes = roots.filter(|(root, _)| root.ends_with("Changes") && *root != "facilityChanges");
    changes.find_map(|(_, page)| page["pageInfo"]["endCursor"].as_str())
}

/// The response with the beginning of a token of changes, which is another one each time.
fn without_token(text: &str, body: &Value) -> String {
    match changes_token(body) {
        Some(token) => text.replace(token, &format!("{}…", &token[..4])),
        None => text.to_owned(),
    }
}

/// A response, whose fields are in the order of the query.
#[derive(Deserialize)]
struct Answer {
    data: Json,
}

/// JSON in lines that are not too long.
fn pretty(value: &Json, indent: usize) -> String {
    let line = one_line(value);
    if indent + line.len() <= WIDTH {
        return line;
    }
    let inside = " ".repeat(indent + 2);
    let lines = |elements: Vec<String>| elements.join(&format!(",\n{inside}"));
    let end = " ".repeat(indent);
    match value {
        Json::List(values) => {
            let values = values.iter().map(|value| pretty(value, indent + 2)).collect();
            format!("[\n{inside}{}\n{end}]", lines(values))
        }
        Json::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key:?}: {}", pretty(value, indent + 2))).collect();
            format!("{{\n{inside}{}\n{end}}}", lines(fields))
        }
        Json::Null | Json::Boolean(_) | Json::Number(_) | Json::Float(_) | Json::Text(_) => line,
    }
}

fn one_line(value: &Json) -> String {
    let list = |elements: Vec<String>| elements.join(", ");
    match value {
        Json::Null => "null".to_owned(),
        Json::Boolean(truth) => truth.to_string(),
        Json::Number(number) => number.to_string(),
        Json::Float(number) => number.get().to_string(),
        Json::Text(text) => serde_json::to_string(text).unwrap(),
        Json::List(values) => format!("[{}]", list(values.iter().map(one_line).collect())),
        Json::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key:?}: {}", one_line(value))).collect();
            format!("{{ {} }}", list(fields))
        }
    }
}

/// Whether there is a value that is no flag of a page: an empty page is no answer.
fn has_value(data: &Value) -> bool {
    match data {
        Value::Object(fields) => fields.iter().any(|(key, value)| key != "pageInfo" && has_value(value)),
        Value::Array(values) => values.iter().any(has_value),
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
