//! A program without the schema answers the questions of `docs/examples.md` with the tools, as an agent would: it searches the schema, composes a
//! query from what it finds, and lets errors correct it. Of a question it knows what `tests/agents/intents.txt` has.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::agents::client::{Agent, Called};
use crate::agents::strategy::{Composed, Intent, compose};
use crate::agents::tools::demo_server;

/// As many calls for a question at most, and as many tokens, each of four bytes: the list of tools, what is sent and what comes back.
const MAX_CALLS: usize = 4;
const MAX_TOKENS: usize = 12_000;

/// As many questions are answered at least.
const ANSWERED: usize = 30;

/// So many of ten questions of roles are answered at least. None is answered wrongly.
const ROLES_ANSWERED: usize = 9;

fn package(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// What somebody takes from a question: its number, what is asked for, what is known, the order, and what is judged.
fn intent(parts: &[&str]) -> Intent {
    let [number, asked, known, order, judged] = parts else { panic!("{parts:?}") };
    let list = |text: &str| text.split(", ").filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    Intent {
        number: number.parse().unwrap(),
        asked: list(asked),
        known: list(known)
            .iter()
            .map(|known| known.split_once(": ").unwrap())
            .map(|(words, value)| (words.to_owned(), value.to_owned()))
            .collect(),
        order: (!order.is_empty())
            .then(|| (order.trim_end_matches(", descending").to_owned(), order.ends_with("descending"))),
        judged: judged.split(' ').map(str::to_owned).collect(),
    }
}

fn intents() -> Vec<Intent> {
    let text = package("tests/agents/intents.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| intent(&line.split('|').map(str::trim).collect::<Vec<_>>())).collect()
}

/// The documented answer to a question.
fn answer(number: usize) -> Value {
    let page = package("docs/examples.md");
    let section = page.split("\n## ").find(|section| section.starts_with(&format!("{number}. "))).unwrap().to_owned();
    let json = section.split_once("```json\n").unwrap().1.split_once("\n```").unwrap().0;
    serde_json::from_str(json).unwrap()
}

/// The values of some fields, or of all, wherever they are.
fn values(data: &Value, fields: Option<&[String]>, name: &str, found: &mut Vec<String>) {
    match data {
        Value::Object(object) => object.iter().for_each(|(name, value)| values(value, fields, name, found)),
        Value::Array(list) => list.iter().for_each(|value| values(value, fields, name, found)),
        Value::Null => {}
        scalar if fields.is_none_or(|fields| fields.iter().any(|field| field == name)) => {
            found.push(scalar.to_string());
        }
        _ => {}
    }
}

/// The agent's calls for a question.
struct Attempt<'a> {
    agent: &'a mut Agent,
    calls: usize,
    bytes: usize,
}

impl Attempt<'_> {
    fn call(&mut self, tool: &str, arguments: &Value) -> Called {
        let called = self.agent.call(tool, arguments);
        self.calls += 1;
        self.bytes += tool.len() + arguments.to_string().len() + called.bytes;
        called
    }

    fn search(&mut self, words: &str) -> Value {
        self.call("search_schema", &json!({ "words": words })).content
    }

    /// A query for all that is asked, or why there is none: searched for again by what is known, and by what the first search did not find.
    fn compose(&mut self, intent: &Intent) -> Result<String, String> {
        let mut replies = vec![self.search(&intent.words())];
        let mut composed = compose(intent, &replies);
        let again = match &composed {
            // Of what is known alone, there may be a root.
            None => Some(intent.known.iter().map(|(words, _)| words.clone()).collect::<Vec<_>>()),
            Some(Composed { missing, .. }) if missing.is_empty() => None,
            Some(Composed { root, missing, .. }) => {
                Some(missing.iter().map(|phrase| format!("{root} {phrase}")).collect())
            }
        };
        if let Some(words) = again {
            replies.push(self.search(&words.join(", ")));
            composed = compose(intent, &replies);
        }
        match composed {
            Some(Composed { query, missing, .. }) if missing.is_empty() => Ok(query),
            Some(Composed { query, missing, .. }) => Err(format!("{query} without {missing:?}")),
            None => Err(replies[0]["roots"].to_string()),
        }
    }

    /// The data of an answer, and the query that was tried last. There is no answer that a tool has reservations about: a value that is not known,
    /// a search that ended early, a list below the root that goes on, a part that cannot be kept.
    fn answer(&mut self, intent: &Intent) -> (Option<Value>, String) {
        let mut query = match self.compose(intent) {
            Ok(query) => query,
            Err(why) => return (None, why),
        };
        while self.calls < MAX_CALLS {
            let run = self.call("run_query", &json!({ "query": query }));
            if run.is_error {
                let explained =
                    self.call("explain_error", &json!({ "error": run.content["errors"], "query": query })).content;
                match explained["corrected"]["query"].as_str() {
                    Some(corrected) if explained.get("dropped").is_none() => corrected.clone_into(&mut query),
                    _ => return (None, format!("{query}\n  {}", run.content)),
                }
                continue;
            }
            if let Some(reservation) = ["warnings", "search", "errors"].iter().find_map(|name| run.content.get(name)) {
                return (None, format!("{query}\n  {reservation}"));
            }
            let more = run.content["mayGoOn"].as_array().into_iter().flatten();
            let below =
                more.filter_map(|list| Some((list["path"].as_str()?.rsplit_once('.')?.1, list["rows"].as_u64()?)));
            let longer = below.fold(query.clone(), |query, (name, rows)| {
                query.replace(&format!("{name}(first: {rows})"), &format!("{name}(first: {})", rows * 10))
            });
            if longer == query {
                return (Some(run.content["data"].clone()), query);
            }
            query = longer;
        }
        (None, query)
    }
}

/// A question of `tests/agents/roles.txt`.
struct RoleQuestion {
    role: String,
    question: String,
    intent: Intent,
    sql: String,
}

fn role_questions() -> Vec<RoleQuestion> {
    let text = package("tests/agents/roles.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#')).enumerate();
    let read = |(number, line): (usize, &str)| {
        let parts: Vec<_> = line.splitn(6, '|').map(str::trim).collect();
        let [role, question, asked, known, order, sql] = parts[..] else { panic!("{line}") };
        RoleQuestion {
            role: role.to_owned(),
            question: question.to_owned(),
            intent: intent(&[&number.to_string(), asked, known, order, ""]),
            sql: sql.to_owned(),
        }
    };
    lines.map(read).collect()
}

/// A value as it is compared: text, and numbers without what does not count.
fn comparable(value: &str) -> String {
    let is_decimal = value.contains('.') && value.parse::<f64>().is_ok();
    if is_decimal { value.trim_end_matches('0').trim_end_matches('.').to_owned() } else { value.to_owned() }
}

/// How many rows the root of an answer has, if it is a list.
fn root_rows(data: &Value) -> Option<usize> {
    let root = data.as_object()?.values().next()?;
    root["edges"].as_array().map(Vec::len)
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_roles_are_answered_as_plain_sql_answers_them() {
    let (server, database, token) = demo_server().await;
    let client = database.connect().await;
    let mut agent = Agent::start(&server, &token);
    let tools = agent.request("tools/list", &json!({})).to_string().len();
    let (mut failed, mut wrong) = (Vec::new(), Vec::new());
    // By role: how many are asked, how many are answered, and the most calls and tokens.
    let mut roles: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for RoleQuestion { role, question, intent, sql } in role_questions() {
        // In the order of its columns.
        let in_text = format!("SELECT array(SELECT value FROM json_each_text(to_json(q))) FROM ({sql}) AS q");
        let rows = client.query(&in_text, &[]).await.unwrap_or_else(|error| panic!("{error:?}: {sql}"));
        let rows: Vec<Vec<Option<String>>> = rows.iter().map(|row| row.get(0)).collect();
        assert!(!rows.is_empty(), "{question}: no row by {sql}");
        let mut attempt = Attempt { agent: &mut agent, calls: 0, bytes: tools };
        let (data, query) = attempt.answer(&intent);
        let (calls, tokens) = (attempt.calls, attempt.bytes / 4);
        let of_role = roles.entry(role.clone()).or_default();
        of_role[0] += 1;
        let Some(data) = data else {
            failed.push(format!("{role}: {question} {calls} calls\n  {query}"));
            continue;
        };
        let mut found = Vec::new();
        values(&data, None, "", &mut found);
        let text = |value: &String| match serde_json::from_str(value) {
            Ok(Value::String(text)) => text,
            _ => value.clone(),
        };
        let found: Vec<_> = found.iter().map(|value| comparable(&text(value))).collect();
        // What identifies rows need not be shown; it says how many there are.
        let shown = rows.iter().flat_map(|row| row.iter().skip(usize::from(row.len() > 1)));
        let expected = shown.flatten().map(|value| comparable(value));
        let missing: Vec<_> = expected.filter(|value| !found.contains(value)).collect();
        let too_many = root_rows(&data).is_some_and(|root| root > rows.len());
        if missing.is_empty() && !too_many {
            assert!(calls <= MAX_CALLS && tokens <= MAX_TOKENS, "{question}: {calls} calls, {tokens} tokens");
            *of_role = [of_role[0], of_role[1] + 1, of_role[2].max(calls), of_role[3].max(tokens)];
        } else {
            wrong.push(format!(
                "{role}: {question} without {missing:?}, too many rows: {too_many}\n  {query}\n  {data}"
            ));
        }
    }
    println!("role | asked | answered | calls at most | tokens at most");
    for (role, [asked, answered, calls, tokens]) in &roles {
        println!("{role} | {asked} | {answered} | {calls} | {tokens}");
    }
    println!("not answered:\n{}", failed.join("\n"));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let [asked, answered] = [0, 1].map(|column| roles.values().map(|of_role| of_role[column]).sum::<usize>());
    assert!(answered * 10 >= asked * ROLES_ANSWERED, "{answered} of {asked} answered; not:\n{}", failed.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_without_the_schema_answers_questions_with_few_calls() {
    let (server, _database, token) = demo_server().await;
    let mut agent = Agent::start(&server, &token);
    let tools = agent.request("tools/list", &json!({})).to_string().len();
    let (mut failed, mut answered) = (Vec::new(), 0);
    let (mut most_calls, mut most_tokens) = (0, 0);
    for intent in intents() {
        let mut attempt = Attempt { agent: &mut agent, calls: 0, bytes: tools };
        let (data, query) = attempt.answer(&intent);
        let (calls, tokens) = (attempt.calls, attempt.bytes / 4);
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        values(&data.unwrap_or_default(), None, "", &mut found);
        values(&answer(intent.number), Some(&intent.judged), "", &mut expected);
        assert!(!expected.is_empty(), "{intent:?}");
        let missing: Vec<_> = expected.iter().filter(|value| !found.contains(value)).collect();
        if missing.is_empty() && calls <= MAX_CALLS && tokens <= MAX_TOKENS {
            answered += 1;
            (most_calls, most_tokens) = (most_calls.max(calls), most_tokens.max(tokens));
        } else {
            failed.push(format!("{}: {calls} calls, {tokens} tokens, without {missing:?}\n  {query}", intent.number));
        }
    }
    println!("{answered} answered, {} not", failed.len());
    println!(
        "{answered} answered, with {most_calls} calls and {most_tokens} tokens at most; not:\n{}",
        failed.join("\n")
    );
    assert!(answered >= ANSWERED, "{answered} answered; not:\n{}", failed.join("\n"));
}
