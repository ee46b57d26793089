//! Encrypted connections: whom they trust, which certificate they show, and where the address comes from.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process;

use serde_json::json;

use crate::database::postgres::Postgres;
use crate::support::authority::Authority;
use crate::support::command::{CommandResult, orderql, run};
use crate::support::server::Server;

/// A server that takes encrypted connections alone, for `db.example`, of three users: by a password, by a certificate, and
/// without both.
struct Encrypted {
    postgres: Postgres,
    address: String,
    files: PathBuf,
}

impl Encrypted {
    async fn start() -> Self {
        // An address of this process alone, because all private clusters have the same port.
        let [_, _, high, low] = process::id().to_be_bytes();
        let address = format!("127.{high}.{low}.1");
        let postgres = Postgres::start_with("tls", &[("listen_addresses", &address)]).await;
        let data = postgres.folder.path().join("data");
        let files = postgres.folder.path().join("certificates");
        fs::create_dir(&files).unwrap();

        let (authority, other) = (Authority::new("authority"), Authority::new("other authority"));
        let (server, server_key) = authority.sign("db.example");
        let (client, client_key) = authority.sign("with_certificate");
        let owner = fs::metadata(&data).unwrap();
        for (path, text) in [
            (data.join("server.crt"), &server),
            (data.join("server.key"), &server_key),
            (data.join("root.crt"), &authority.pem()),
            (files.join("root.crt"), &authority.pem()),
            (files.join("other.crt"), &other.pem()),
            (files.join("client.crt"), &client),
            (files.join("client.key"), &client_key),
            (files.join("open.key"), &client_key),
        ] {
            fs::write(&path, text).unwrap();
            let mode = if path.ends_with("open.key") { 0o644 } else { 0o600 };
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            if path.starts_with(&data) {
                chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
            }
        }
        let rules = "local all all trust
            hostssl all with_certificate all cert
            hostssl all with_password all scram-sha-256
            hostssl all anybody all trust";
        fs::write(data.join("pg_hba.conf"), rules).unwrap();
        let admin = postgres.connect().await;
        for statement in [
            "SET password_encryption = 'scram-sha-256'",
            "CREATE ROLE with_certificate SUPERUSER LOGIN",
            "CREATE ROLE with_password SUPERUSER LOGIN PASSWORD 'se:cret'",
            "CREATE ROLE anybody SUPERUSER LOGIN",
            "ALTER SYSTEM SET ssl_cert_file = 'server.crt'",
            "ALTER SYSTEM SET ssl_key_file = 'server.key'",
            "ALTER SYSTEM SET ssl_ca_file = 'root.crt'",
            "ALTER SYSTEM SET ssl = on",
            "SELECT pg_reload_conf()",
        ] {
            admin.batch_execute(statement).await.unwrap();
        }
        // Settings are read again at some moment after the call.
        while admin.query_one("SHOW ssl", &[]).await.unwrap().get::<_, &str>(0) != "on" {}
        Self { postgres, address, files }
    }

    /// The address with these parameters, and no server's name other than `host`.
    fn as_seen(&self, host: &str, parameters: &str) -> String {
        let Self { postgres, address, files } = self;
        let port = postgres.config().get_ports()[0];
        let parameters = parameters.replace("FILES", &files.display().to_string());
        format!("host={host} hostaddr={address} port={port} dbname=orders {parameters}")
    }
}

/// Runs a command that connects, with that home folder.
fn connect(address: &str, home: &Path, variables: &[(&str, &str)]) -> CommandResult {
    let mut command = orderql();
    command.args(["parties", "--database-url", address]).env("HOME", home).envs(variables.iter().copied());
    run(&mut command, "")
}

/// A certificate of X.509's first version, and its key. No library that the tests use makes one.
const FIRST_VERSION: [&str; 2] = [
    "-----BEGIN CERTIFICATE-----
MIIBJjCBzQIUTrgtnfjHxm7aW91RkOCS3C7cdmMwCgYIKoZIzj0EAwIwFTETMBEG
A1UEAwwKZGIuZXhhbXBsZTAgFw0yNjExMjQwNzIwMDVaGA8yMTI2MTAzMTA3MjAw
NVowFTETMBEGA1UEAwwKZGIuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABNWLuUrFffIZZsWER+a4y33T9kxAYIvvpCv1eGvbt8kuZLzWvbGAkuvX+hlc
0NuNU8NKfgykKhO1SjwUydpu8jYwCgYIKoZIzj0EAwIDSAAwRQIgQgONPZSsLxfu
MmJu90P01XstSGR0SAWZn9oqFEnkfn8CIQCrK2zQEOZeHY9PF1RlFXJXpjlWSYnO
epfOLCEg8ow0BA==
-----END CERTIFICATE-----
",
    "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTa19l2IkxnkDsMI0
u8kPZgDqMpTHUyqUDTfC+Uc+iF6hRANCAATVi7lKxX3yGWbFhEfmuMt90/ZMQGCL
76Qr9Xhr27fJLmS81r2xgJLr1/oZXNDbjVPDSn4MpCoTtUo8FMnabvI2
-----END PRIVATE KEY-----
",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_the_first_version_is_no_obstacle_where_certificates_are_not_looked_at() {
    let encrypted = Encrypted::start().await;
    let data = encrypted.postgres.folder.path().join("data");
    for (name, text) in ["server.crt", "server.key"].iter().zip(FIRST_VERSION) {
        fs::write(data.join(name), text).unwrap();
    }
    // Settings are read again at some moment after the call, and files with them.
    let admin = encrypted.postgres.connect().await;
    for statement in ["ALTER SYSTEM SET ssl_prefer_server_ciphers = off", "SELECT pg_reload_conf()"] {
        admin.batch_execute(statement).await.unwrap();
    }
    let read = "SHOW ssl_prefer_server_ciphers";
    while admin.query_one(read, &[]).await.unwrap().get::<_, &str>(0) != "off" {}
    for (parameters, expected) in [
        ("user=anybody sslmode=prefer", ""),
        ("user=anybody sslmode=require", ""),
        ("user=with_password password=se:cret sslmode=require", ""),
        ("user=anybody sslmode=verify-ca sslrootcert=FILES/root.crt", "UnsupportedCertVersion"),
    ] {
        let result = connect(&encrypted.as_seen("db.example", parameters), &encrypted.files, &[]);
        assert_eq!(result.succeeded, expected.is_empty(), "{parameters}: {}", result.stderr);
        assert!(result.stderr.contains(expected), "{parameters}: {}", result.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connects_to_the_right_servers_alone() {
    let encrypted = Encrypted::start().await;
    let home = encrypted.files.join("home");
    fs::create_dir(&home).unwrap();
    let verified = "user=anybody sslmode=verify-full sslrootcert=FILES/root.crt";
    let certificate = "user=with_certificate sslmode=verify-full sslrootcert=FILES/root.crt sslcert=FILES/client.crt";
    for (host, parameters, expected) in [
        ("db.example", "user=anybody", ""),
        ("db.example", "user=anybody sslmode=require", ""),
        ("db.example", "user=anybody sslmode=disable", "no encryption"),
        ("db.example", verified, ""),
        ("other.example", verified, "not valid for name \"other.example\""),
        ("other.example", "user=anybody sslmode=verify-ca sslrootcert=FILES/root.crt", ""),
        ("db.example", "user=anybody sslmode=verify-ca sslrootcert=FILES/other.crt", "UnknownIssuer"),
        ("db.example", "user=anybody sslmode=require sslrootcert=FILES/other.crt", "UnknownIssuer"),
        ("db.example", "user=anybody sslmode=verify-full", "root.crt does not exist"),
        ("db.example", "user=anybody sslmode=verify-full sslrootcert=FILES/client.key", "no certificate in PEM format"),
        ("db.example", &format!("{certificate} sslkey=FILES/client.key"), ""),
        ("db.example", &format!("{certificate} sslkey=FILES/open.key"), "chmod 600"),
        ("db.example", certificate, "belong together"),
        ("db.example", "user=with_certificate sslmode=verify-full sslrootcert=FILES/root.crt", "certificate"),
        ("db.example", "user=with_password password=se:cret sslmode=require channel_binding=require", ""),
        ("db.example", "user=with_password password=wrong sslmode=require", "password authentication failed"),
        ("db.example", "user=anybody sslmode=on", "sslmode is disable, allow, prefer"),
    ] {
        let result = connect(&encrypted.as_seen(host, parameters), &home, &[]);
        assert_eq!(result.succeeded, expected.is_empty(), "{host} {parameters}: {}", result.stderr);
        assert!(result.stderr.contains(expected), "{host} {parameters}: {}", result.stderr);
        assert!(!result.stderr.contains("cret"), "{}", result.stderr);
        let is_verified = parameters.contains("verify-full") || parameters.contains("sslmode=on");
        let warns = result.stderr.contains("not safe from others");
        assert_eq!(warns, !is_verified, "{host} {parameters}: {}", result.stderr);
    }

    // The environment, a password file and a service file say what the address leaves open.
    let port = encrypted.postgres.config().get_ports()[0].to_string();
    let root = encrypted.files.join("root.crt").display().to_string();
    let variables = [
        ("PGHOST", "db.example"),
        ("PGHOSTADDR", &*encrypted.address),
        ("PGPORT", &port),
        ("PGUSER", "with_password"),
        ("PGDATABASE", "orders"),
        ("PGSSLMODE", "verify-full"),
        ("PGSSLROOTCERT", &root),
    ];
    let failed = connect("", &home, &variables);
    let password_file = home.join(".pgpass");
    let looked_in = format!("or in {}, which has no line for it", password_file.display());
    assert!(!failed.succeeded && failed.stderr.contains(&looked_in), "{}", failed.stderr);
    fs::write(&password_file, "other:*:*:*:wrong\ndb.example:*:orders:with_password:se\\:cret\n").unwrap();
    fs::set_permissions(&password_file, Permissions::from_mode(0o644)).unwrap();
    let open = connect("", &home, &variables);
    assert!(!open.succeeded && open.stderr.contains(".pgpass is not used"), "{}", open.stderr);
    fs::set_permissions(&password_file, Permissions::from_mode(0o600)).unwrap();
    let found = connect("", &home, &variables);
    assert!(found.succeeded, "{}", found.stderr);
    let service = format!(
        "[orders]\nhost=db.example\nhostaddr={}\nport={port}\ndbname=orders\nuser=with_password\nsslmode=verify-ca\n\
         sslrootcert={root}\n",
        encrypted.address
    );
    fs::write(home.join(".pg_service.conf"), service).unwrap();
    let found = connect("service=orders sslmode=verify-full", &home, &[]);
    assert!(found.succeeded && !found.stderr.contains("warning"), "{}", found.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_and_cancels_over_encrypted_connections() {
    let encrypted = Encrypted::start().await;
    let address = encrypted.as_seen("db.example", "user=anybody sslmode=verify-full sslrootcert=FILES/root.crt");
    let server = Server::start_on(&address, &["--deadline", "200ms"]);
    let token = server.token("demo");
    let query = "{ order(orderId: \"NONE\") { orderId } }";
    assert_eq!(server.query(&token, query).json()["data"], json!({"order": null}));
    let admin = encrypted.postgres.connect().await;
    let plain =
        "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'anybody' AND NOT ssl";
    assert_eq!(admin.query_one(plain, &[]).await.unwrap().get::<_, i64>(0), 0);

    admin.batch_execute("BEGIN; LOCK order_header").await.unwrap();
    assert_eq!(server.query(&token, query).json()["errors"][0]["extensions"]["code"], "DEADLINE_EXCEEDED");
    // The statement is cancelled although the lock is still held.
    encrypted.postgres.wait_for_lock_waits(0).await;
    admin.batch_execute("COMMIT").await.unwrap();
    assert_eq!(server.query(&token, query).json()["data"], json!({"order": null}));
}
