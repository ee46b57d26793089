//! The private cluster: created, started, taken over, stopped.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process;

use orderql::cli::demo::prepare;
use orderql::database::connection::connect::connect;
use orderql::private_cluster::address::ClusterAddress;
use orderql::private_cluster::cluster::Cluster;
use orderql::private_cluster::error::ClusterError;
use orderql::private_cluster::options::Durability;

use crate::support::cluster::throwaway_cluster;
use crate::support::test_folder::TestFolder;

async fn setting(address: &ClusterAddress, name: &str) -> String {
    let client = connect(&address.config("postgres")).await.unwrap();
    client.query_one("SELECT current_setting($1)", &[&name]).await.unwrap().get(0)
}

/// The start time of the server, which identifies its process.
async fn server_process(address: &ClusterAddress) -> String {
    let client = connect(&address.config("postgres")).await.unwrap();
    client.query_one("SELECT pg_postmaster_start_time()::text", &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_cluster_keeps_its_databases_after_a_stop_and_listens_on_its_socket_only() {
    let folder = TestFolder::create("cluster-stored");
    assert!(!Cluster::exists(folder.path()));
    let cluster = Cluster::open(&throwaway_cluster(folder.path())).unwrap();
    assert!(Cluster::exists(folder.path()));
    assert_eq!(setting(cluster.address(), "listen_addresses").await, "");
    assert_eq!(setting(cluster.address(), "server_encoding").await, "UTF8");
    assert_eq!(setting(cluster.address(), "fsync").await, "off");
    let socket = setting(cluster.address(), "unix_socket_directories").await;
    let mode = fs::metadata(socket.trim_matches('"')).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);

    assert!(cluster.address().create_database("one", None).await.unwrap());
    assert!(!cluster.address().create_database("one", None).await.unwrap());
    let client = connect(&cluster.address().config("one")).await.unwrap();
    client.batch_execute("CREATE TABLE stored (n int); INSERT INTO stored VALUES (7)").await.unwrap();
    drop(client);
    assert!(cluster.address().create_database("copy", Some("one")).await.unwrap());
    let address = cluster.address().clone();
    cluster.stop().unwrap();
    assert!(connect(&address.config("one")).await.is_err());

    let cluster = Cluster::open(&throwaway_cluster(folder.path())).unwrap();
    for name in ["one", "copy"] {
        let client = connect(&cluster.address().config(name)).await.unwrap();
        let n: i32 = client.query_one("SELECT n FROM stored", &[]).await.unwrap().get(0);
        assert_eq!(n, 7);
    }
    cluster.address().drop_database("copy").await.unwrap();
    cluster.address().drop_database("copy").await.unwrap();
    assert!(connect(&cluster.address().config("copy")).await.is_err());
    drop(cluster);
    assert!(connect(&address.config("one")).await.is_err(), "dropping a cluster stops it");
}

#[tokio::test]
async fn a_durable_cluster_writes_to_disk_and_accepts_settings() {
    let folder = TestFolder::create("cluster-durable");
    let mut options = throwaway_cluster(folder.path());
    options.durability = Durability::Durable;
    options.settings = vec![("work_mem".to_owned(), "7MB".to_owned())];
    let cluster = Cluster::open(&options).unwrap();
    assert_eq!(setting(cluster.address(), "fsync").await, "on");
    assert_eq!(setting(cluster.address(), "work_mem").await, "7MB");
}

#[tokio::test]
async fn takes_over_a_server_that_was_left_running() {
    let folder = TestFolder::create("cluster-left");
    let left = Cluster::open(&throwaway_cluster(folder.path())).unwrap().leave_running();
    let started = server_process(&left).await;
    let cluster = Cluster::open(&throwaway_cluster(folder.path())).unwrap();
    assert_eq!(*cluster.address(), left);
    assert_eq!(server_process(cluster.address()).await, started);
}

#[tokio::test]
async fn a_cluster_cannot_be_opened_twice() {
    let folder = TestFolder::create("cluster-two");
    let cluster = Cluster::open(&throwaway_cluster(folder.path())).unwrap();
    assert!(matches!(Cluster::open(&throwaway_cluster(folder.path())), Err(ClusterError::InUse { .. })));
    server_process(cluster.address()).await;
}

#[tokio::test]
async fn ignores_a_stale_pid_file() {
    let folder = TestFolder::create("cluster-stale");
    Cluster::open(&throwaway_cluster(folder.path())).unwrap().stop().unwrap();
    // The process of this test is alive, but it is no server.
    let pid_file = folder.path().join("data/postmaster.pid");
    let text = format!("{}\n{}\n1\n5432\n{}\n\n\nready\n", process::id(), pid_file.display(), folder.path().display());
    fs::write(&pid_file, text).unwrap();
    let cluster = Cluster::open(&throwaway_cluster(folder.path())).unwrap();
    server_process(cluster.address()).await;
}

#[tokio::test]
async fn repeats_an_interrupted_initdb() {
    let folder = TestFolder::create("cluster-unfinished");
    fs::create_dir(folder.path().join("data.unfinished")).unwrap();
    fs::write(folder.path().join("data.unfinished/PG_VERSION"), "15\n").unwrap();
    // An interrupted start has left its lock. Without one, the files are somebody else's.
    let error = Cluster::open(&throwaway_cluster(folder.path())).unwrap_err();
    assert!(matches!(error, ClusterError::ForeignFolder { .. }), "{error}");
    fs::write(folder.path().join("lock"), "").unwrap();
    let cluster = Cluster::open(&throwaway_cluster(folder.path())).unwrap();
    server_process(cluster.address()).await;
}

#[tokio::test]
async fn a_folder_with_a_long_path_has_its_socket_elsewhere() {
    let folder = TestFolder::create("cluster-deep");
    let deep = folder.path().join("d".repeat(60)).join("it's $HOME, `quoted`").join("e".repeat(30));
    let cluster = Cluster::open(&throwaway_cluster(&deep)).unwrap();
    let socket = setting(cluster.address(), "unix_socket_directories").await;
    assert!(socket.trim_matches('"').starts_with("/tmp/orderql-"), "{socket}");
    server_process(cluster.address()).await;
    drop(cluster);
    fs::remove_dir_all(socket.trim_matches('"')).unwrap();
}

#[test]
fn names_a_folder_that_the_server_cannot_read() {
    let folder = TestFolder::create("cluster-closed");
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::create_dir(closed.join("inner")).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o600)).unwrap();
    let error = Cluster::open(&throwaway_cluster(&closed.join("inner"))).unwrap_err();
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    // As root, the server's user cannot read it. Otherwise, this process cannot.
    assert!(matches!(error, ClusterError::FolderClosed { .. } | ClusterError::File { .. }), "{error}");
    assert!(error.to_string().contains(closed.to_str().unwrap()), "{error}");
}

#[test]
fn names_a_folder_without_postgresql() {
    let folder = TestFolder::create("cluster-none");
    let mut options = throwaway_cluster(folder.path());
    options.programs = Some(folder.path().to_owned());
    let error = Cluster::open(&options).unwrap_err();
    assert!(matches!(&error, ClusterError::ProgramsNotIn { folder: named } if named == folder.path()), "{error}");
}

#[test]
fn reports_why_a_server_cannot_start() {
    let folder = TestFolder::create("cluster-wrong");
    let mut options = throwaway_cluster(folder.path());
    options.settings = vec![("shared_buffers".to_owned(), "nonsense".to_owned())];
    let error = Cluster::open(&options).unwrap_err();
    assert!(
        matches!(&error, ClusterError::ProgramFailed { program: "pg_ctl", output } if output.contains("shared_buffers"))
    );
}

#[tokio::test]
async fn the_demo_keeps_its_migrated_database() {
    let folder = TestFolder::create("cluster-demo");
    let (cluster, config) = prepare(folder.path()).await.unwrap();
    let client = connect(&config).await.unwrap();
    client.batch_execute("INSERT INTO order_header (order_id) VALUES ('O')").await.unwrap();
    drop(client);
    cluster.stop().unwrap();
    let (_cluster, config) = prepare(folder.path()).await.unwrap();
    let client = connect(&config).await.unwrap();
    let order: String = client.query_one("SELECT order_id FROM order_header", &[]).await.unwrap().get(0);
    assert_eq!(order, "O");
}
