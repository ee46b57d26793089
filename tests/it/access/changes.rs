//! Changes of accounts on a running server.

use orderql::access::profile::Profile;

use crate::support::http::JSON;
use crate::support::server::{Server, connection_string, server_with_users, wait_until};

#[tokio::test(flavor = "multi_thread")]
async fn are_noticed_where_no_notification_arrives() {
    for (listen, warning) in [
        // Notifications stay in their database.
        ("dbname=postgres", None),
        ("dbname=nowhere", Some("no notifications of changed grants are received")),
    ] {
        let (server, database) = server_with_users(&[("demo", Profile::DEFAULT)], &[]).await;
        let address = connection_string(&database.config());
        let elsewhere = address.replace(&format!("dbname={}", database.name()), listen);
        let second = Server::start(&database, &["--listen-url", &elsewhere]);
        let query = r#"{"query": "{ __typename }"}"#;
        let tokens = [server.token("demo"), second.token("demo")];
        let client = database.connect().await;
        for (disabled, expected) in [(true, 401), (false, 200)] {
            let change = "UPDATE orderql.user_account SET disabled = $1";
            client.execute(change, &[&disabled]).await.unwrap();
            for (server, token) in [&server, &second].into_iter().zip(&tokens) {
                wait_until(|| server.post(token, JSON, query).status == expected);
            }
        }
        assert!(!server.stop().contains("no notifications"));
        let log = second.stop();
        assert_eq!(log.contains("no notifications"), warning.is_some(), "{log}");
        assert!(warning.is_none_or(|warning| log.contains(warning)), "{log}");
    }
}
