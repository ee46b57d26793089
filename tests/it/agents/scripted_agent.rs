//! A program without the schema answers the questions of `docs/examples.md` with the tools, as an agent would: it searches the schema, composes a
//! query from what it finds, and lets errors correct it. Of a question it knows what `tests/agents/intents.txt` has.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::agents::client::{Agent, Called};
use crate::agents::strategy::{Intent, compose};
use crate::agents::tools::demo_server;

/// As many calls for a question at most, and as many tokens, each of four bytes: the list of tools, what is sent and what comes back.
const MAX_CALLS: usize = 6;
const MAX_TOKENS: usize = 12_000;

/// As many questions are answered at least.
const ANSWERED: usize = 30;

fn package(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn intents() -> Vec<Intent> {
    let read = |line: &str| {
        let [number, asked, known, order, judged] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
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
    };
    package("tests/agents/intents.txt").lines().filter(|line| !line.starts_with('#')).map(read).collect()
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

    /// The data of an answer, and the query that was tried last.
    fn answer(&mut self, intent: &Intent) -> (Option<Value>, String) {
        let reply = self.call("search_schema", &json!({ "words": intent.words() }));
        let mut query = compose(intent, &reply.content);
        if query.is_none() {
            // Of what is known alone, there may be a better root.
            let known: Vec<_> = intent.known.iter().map(|(words, _)| words.as_str()).collect();
            let reply = self.call("search_schema", &json!({ "words": known.join(", ") }));
            query = compose(intent, &reply.content);
        }
        let Some(mut query) = query else { return (None, reply.content["roots"].to_string()) };
        while self.calls < MAX_CALLS {
            let run = self.call("run_query", &json!({ "query": query }));
            if !run.is_error {
                return (Some(run.content["data"].clone()), query);
            }
            let fits = run.content["fits"]["query"].as_str().map(str::to_owned);
            let next = fits.or_else(|| {
                let explained = self.call("explain_error", &json!({ "error": run.content["errors"], "query": query }));
                explained.content["corrected"]["query"].as_str().map(str::to_owned)
            });
            match next {
                Some(next) => query = next,
                None => return (None, format!("{query}\n  {}", run.content)),
            }
        }
        (None, query)
    }
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
