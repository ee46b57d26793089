//! Reaching a store: with TLS, with a password, and what the doctor says of it.

use std::fs;

use serde_json::Value;

use crate::support::authority::Authority;
use crate::support::command::{orderql, run};
use crate::support::database::migrated_database;
use crate::support::server::{Server, connection_string};
use crate::support::store_server::StoreServer;
use crate::support::test_folder::TestFolder;

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_reached_with_tls_and_a_password_which_is_not_shown() {
    let folder = TestFolder::create("store-tls");
    let authority = Authority::new("Stores");
    let path = |name: &str| folder.path().join(name);
    authority.write("localhost", &path("store.crt"), &path("store.key"));
    fs::write(path("authority.crt"), authority.pem()).unwrap();
    let text = |name: &str| path(name).to_str().unwrap().to_owned();
    let flags = |port: u16| {
        let flags = [
            "--port",
            "0",
            "--tls-port",
            &port.to_string(),
            "--tls-auth-clients",
            "no",
            "--requirepass",
            "geheim",
            "--tls-cert-file",
            &text("store.crt"),
            "--tls-key-file",
            &text("store.key"),
            "--tls-ca-cert-file",
            &text("authority.crt"),
        ];
        flags.map(str::to_owned).to_vec()
    };
    let Some(store) = StoreServer::start_with(flags) else { return };
    let database = migrated_database().await;
    let address = connection_string(&database.config());
    let url = format!("rediss://:geheim@localhost:{}/1", store.port);
    let flags = ["--bucket-url", &url, "--admin-listen", "127.0.0.1:0"];
    let trusting = [("SSL_CERT_FILE", text("authority.crt"))];
    let trusting = trusting.each_ref().map(|(name, value)| (*name, value.as_str()));
    let server = Server::start_with_variables(&address, &flags, &trusting);
    assert_eq!(server.metrics().get("orderql_bucket_store_up"), 1);
    let ready = server.get_as_operator("/health/ready").json();
    assert_eq!(ready["parts"]["store"]["status"], "ok", "{ready}");
    let settings = server.get_as_operator("/config").json();
    assert_eq!(settings["bucket-url"]["isSecret"], true, "{settings}");
    assert!(!server.stop().contains("geheim"));
    // Without its authority the store is not trusted, and the server works without it.
    let server = Server::start_with_variables(&address, &flags, &[("SSL_CERT_FILE", "/dev/null")]);
    assert_eq!(server.metrics().get("orderql_bucket_store_up"), 0);
    assert_eq!(server.get("/health/ready").status, 200);
    let log = server.stop();
    assert!(log.contains("the shared store is away") && !log.contains("geheim"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_examines_the_store() {
    let Some(mut store) = StoreServer::start() else { return };
    let database = migrated_database().await;
    let address = connection_string(&database.config());
    let examine = |url: &str| {
        let found = run(orderql().args(["doctor", "--json", "--database-url", &address, "--bucket-url", url]), "");
        let findings: Value = serde_json::from_str(&found.stdout).unwrap();
        let of_store = findings.as_array().unwrap().iter().filter(|finding| finding["area"] == "store");
        of_store.map(|finding| format!("{}: {}", finding["level"], finding["text"])).collect::<Vec<_>>().join("\n")
    };
    let fine = examine(&store.url());
    assert!(fine.starts_with("\"ok\"") && fine.contains("127.0.0.1"), "{fine}");
    store.command(&["CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru"]);
    let evicting = examine(&store.url());
    assert!(evicting.starts_with("\"warning\"") && evicting.contains("may forget buckets"), "{evicting}");
    store.kill();
    let away = examine(&store.url().replace("//", "//:geheim@"));
    assert!(away.starts_with("\"warning\"") && away.contains("cannot be used") && !away.contains("geheim"), "{away}");
}
