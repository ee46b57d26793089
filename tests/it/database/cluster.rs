//! The private cluster: made, started, taken over, stopped.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, process};

use orderql::cli::demo::prepare;
use orderql::database::address::ClusterAddress;
use orderql::database::cluster::Cluster;
use orderql::database::connect::connect;
use orderql::database::error::ClusterError;
use orderql::database::options::{ClusterOptions, Durability};

/// A folder of a test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("orderql-cluster-{}-{name}", process::id()));
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn options(folder: &Path) -> ClusterOptions {
    ClusterOptions {
        folder: folder.to_owned(),
        programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
        durability: Durability::ThrowAway,
        settings: Vec::new(),
    }
}

async fn setting(address: &ClusterAddress, name: &str) -> String {
    let client = connect(&address.config("postgres")).await.unwrap();
    client.query_one("SELECT current_setting($1)", &[&name]).await.unwrap().get(0)
}

async fn server_process(address: &ClusterAddress) -> String {
    let client = connect(&address.config("postgres")).await.unwrap();
    client.query_one("SELECT pg_postmaster_start_time()::text", &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_cluster_keeps_its_databases_over_a_stop_and_is_reached_by_its_socket_alone() {
    let folder = Folder::new("kept");
    assert!(!Cluster::exists(&folder.0));
    let cluster = Cluster::open(&options(&folder.0)).unwrap();
    assert!(Cluster::exists(&folder.0));
    assert_eq!(setting(cluster.address(), "listen_addresses").await, "");
    assert_eq!(setting(cluster.address(), "server_encoding").await, "UTF8");
    assert_eq!(setting(cluster.address(), "fsync").await, "off");
    let socket = setting(cluster.address(), "unix_socket_directories").await;
    let mode = fs::metadata(socket.trim_matches('"')).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);

    assert!(cluster.address().create_database("one", None).await.unwrap());
    assert!(!cluster.address().create_database("one", None).await.unwrap());
    let client = connect(&cluster.address().config("one")).await.unwrap();
    client.batch_execute("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)").await.unwrap();
    drop(client);
    assert!(cluster.address().create_database("copy", Some("one")).await.unwrap());
    let address = cluster.address().clone();
    cluster.stop().unwrap();
    assert!(connect(&address.config("one")).await.is_err());

    let cluster = Cluster::open(&options(&folder.0)).unwrap();
    for name in ["one", "copy"] {
        let client = connect(&cluster.address().config(name)).await.unwrap();
        let n: i32 = client.query_one("SELECT n FROM kept", &[]).await.unwrap().get(0);
        assert_eq!(n, 7);
    }
    cluster.address().drop_database("copy").await.unwrap();
    cluster.address().drop_database("copy").await.unwrap();
    assert!(connect(&cluster.address().config("copy")).await.is_err());
    drop(cluster);
    assert!(connect(&address.config("one")).await.is_err(), "dropping a cluster stops it");
}

#[tokio::test]
async fn a_durable_cluster_writes_to_disk_and_takes_further_settings() {
    let folder = Folder::new("durable");
    let mut options = options(&folder.0);
    options.durability = Durability::Durable;
    options.settings = vec![("work_mem".to_owned(), "7MB".to_owned())];
    let cluster = Cluster::open(&options).unwrap();
    assert_eq!(setting(cluster.address(), "fsync").await, "on");
    assert_eq!(setting(cluster.address(), "work_mem").await, "7MB");
}

#[tokio::test]
async fn a_server_left_running_is_taken_over() {
    let folder = Folder::new("left");
    let left = Cluster::open(&options(&folder.0)).unwrap().leave_running();
    let started = server_process(&left).await;
    let cluster = Cluster::open(&options(&folder.0)).unwrap();
    assert_eq!(*cluster.address(), left);
    assert_eq!(server_process(cluster.address()).await, started);
}

#[tokio::test]
async fn two_do_not_open_one_cluster() {
    let folder = Folder::new("two");
    let cluster = Cluster::open(&options(&folder.0)).unwrap();
    assert!(matches!(Cluster::open(&options(&folder.0)), Err(ClusterError::InUse { .. })));
    server_process(cluster.address()).await;
}

#[tokio::test]
async fn the_process_file_of_a_machine_that_crashed_is_no_hindrance() {
    let folder = Folder::new("stale");
    Cluster::open(&options(&folder.0)).unwrap().stop().unwrap();
    // This test's own process is alive, and no server.
    let claim = folder.0.join("data/postmaster.pid");
    let text = format!("{}\n{}\n1\n5432\n{}\n\n\nready\n", process::id(), claim.display(), folder.0.display());
    fs::write(&claim, text).unwrap();
    let cluster = Cluster::open(&options(&folder.0)).unwrap();
    server_process(cluster.address()).await;
}

#[tokio::test]
async fn an_initdb_that_was_cut_short_is_done_again() {
    let folder = Folder::new("unfinished");
    fs::create_dir(folder.0.join("data.unfinished")).unwrap();
    fs::write(folder.0.join("data.unfinished/PG_VERSION"), "15\n").unwrap();
    let cluster = Cluster::open(&options(&folder.0)).unwrap();
    server_process(cluster.address()).await;
}

#[tokio::test]
async fn a_folder_too_deep_for_a_socket_has_it_elsewhere() {
    let folder = Folder::new("deep");
    let deep = folder.0.join("d".repeat(60)).join("it's $HOME, `quoted`").join("e".repeat(30));
    let cluster = Cluster::open(&options(&deep)).unwrap();
    let socket = setting(cluster.address(), "unix_socket_directories").await;
    assert!(socket.trim_matches('"').starts_with("/tmp/orderql-"), "{socket}");
    server_process(cluster.address()).await;
    drop(cluster);
    fs::remove_dir_all(socket.trim_matches('"')).unwrap();
}

#[test]
fn a_folder_that_the_server_cannot_reach_is_named() {
    let folder = Folder::new("closed");
    let closed = folder.0.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::create_dir(closed.join("inner")).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o600)).unwrap();
    let error = Cluster::open(&options(&closed.join("inner"))).unwrap_err();
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    // As root the server's user is kept out, else we are.
    assert!(matches!(error, ClusterError::FolderClosed { .. } | ClusterError::File { .. }), "{error}");
    assert!(error.to_string().contains(closed.to_str().unwrap()), "{error}");
}

#[test]
fn a_folder_without_postgresql_is_refused_by_name() {
    let folder = Folder::new("none");
    let mut options = options(&folder.0);
    options.programs = Some(folder.0.clone());
    let error = Cluster::open(&options).unwrap_err();
    assert!(matches!(&error, ClusterError::ProgramsNotIn { folder: named } if *named == folder.0), "{error}");
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let folder = Folder::new("wrong");
    let mut options = options(&folder.0);
    options.settings = vec![("shared_buffers".to_owned(), "nonsense".to_owned())];
    let error = Cluster::open(&options).unwrap_err();
    assert!(
        matches!(&error, ClusterError::ProgramFailed { program: "pg_ctl", output } if output.contains("shared_buffers"))
    );
}

#[tokio::test]
async fn the_demo_has_a_migrated_database_that_is_kept() {
    let folder = Folder::new("demo");
    let (cluster, config) = prepare(&folder.0).await.unwrap();
    let client = connect(&config).await.unwrap();
    client.batch_execute("INSERT INTO order_header (order_id) VALUES ('KEPT')").await.unwrap();
    drop(client);
    cluster.stop().unwrap();
    let (_cluster, config) = prepare(&folder.0).await.unwrap();
    let client = connect(&config).await.unwrap();
    let order: String = client.query_one("SELECT order_id FROM order_header", &[]).await.unwrap().get(0);
    assert_eq!(order, "KEPT");
}
