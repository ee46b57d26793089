//! The probes.

use orderql::database::connection::connect::connect;

use crate::support::cluster::cluster;
use crate::support::server::server_with_demo_user;
use crate::support::users::UNLIMITED_PROFILE;

#[tokio::test(flavor = "multi_thread")]
async fn the_readiness_probe_reports_whether_the_database_is_available() {
    let (server, database, _) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    assert_eq!(server.get("/health/live").json()["status"], "live");
    assert_eq!(server.get("/health/ready").json()["status"], "ready");
    // Nobody may connect to the database any more, and existing connections are closed.
    let admin = connect(&cluster().await.config("postgres")).await.unwrap();
    let name = database.name();
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await.unwrap();
    let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
    admin.execute(terminate, &[&name]).await.unwrap();
    while server.get("/health/ready").status == 200 {}
    assert_eq!(server.get("/health/ready").status, 503);
    assert_eq!(server.get("/health/live").status, 200);
    assert_eq!(server.sign_in("/auth/token", "demo", "demo").status, 200, "the server still knows the accounts");
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).await.unwrap();
    while server.get("/health/ready").status == 503 {}
    assert_eq!(server.get("/health/ready").status, 200);
}
