//! `explain_error` corrects nearly all of the broken queries of the tests of mending.

use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use serde_json::json;

use crate::agents::client::Agent;
use crate::query::mending::{broken, variables};
use crate::support::server::server_with_demo_user;

#[tokio::test(flavor = "multi_thread")]
async fn explain_error_corrects_nearly_all_broken_queries() {
    let broken = broken(&Catalog::built_in().unwrap());
    let profile = Profile { bucket_size: Some(1_000_000_000), ..Profile::DEFAULT };
    let (server, _database, token) = server_with_demo_user(profile, &[]).await;
    let mut agent = Agent::start(&server, &token);
    let mut failed = Vec::new();
    for (kind, query, _) in &broken {
        let explained = agent.call("explain_error", &json!({ "error": {}, "query": query, "variables": variables() }));
        assert!(!explained.is_error && explained.bytes < 16_000, "{query}: {explained:?}");
        assert!(explained.content["sdl"].as_str().unwrap().len() <= 1024, "{query}: {explained:?}");
        let corrected = &explained.content["corrected"];
        if corrected.is_null() {
            failed.push(format!("{kind}: {query}\n  {}", explained.content["notCorrected"][0]["message"]));
            continue;
        }
        // The server accepts what is offered, without another look.
        let run = json!({ "query": corrected["query"], "variables": corrected["variables"], "maxCost": 1000, "maxBytes": 1_000_000 });
        let run = agent.call("run_query", &run);
        assert!(!run.is_error, "{query}: {corrected}\n{run:?}");
    }
    let count = broken.len();
    println!("{count} broken queries, {} corrected", count - failed.len());
    assert!(count >= 300 && failed.len() * 20 <= count, "{} of {count}:\n{}", failed.len(), failed.join("\n"));
}
