//! What is revoked on the primary, and when each server refuses it.

use std::thread;
use std::time::{Duration, Instant};

use crate::database::replicas::servers::{CALLERS, Servers};
use crate::database::several_servers::{number, start};
use crate::support::http::{GRAPHQL_JSON, graphql_request};
use crate::support::server::{Server, wait_until};
use crate::support::store::{URLENCODED, update_request};

/// What the documentation promises.
const LONGEST: Duration = Duration::from_secs(2);

/// Something that is taken from a caller, who is refused with this status from then on.
struct Revocation {
    take: &'static str,
    give: &'static str,
    status: u16,
}

/// One for each caller.
const REVOCATIONS: [Revocation; 4] = [
    Revocation {
        take: "UPDATE orderql.user_account SET disabled = true WHERE user_id = 'ann'",
        give: "UPDATE orderql.user_account SET disabled = false WHERE user_id = 'ann'",
        status: 401,
    },
    Revocation {
        take: "INSERT INTO removed SELECT * FROM orderql.user_account WHERE user_id = 'bea';
               DELETE FROM orderql.user_account WHERE user_id = 'bea'",
        give: "INSERT INTO orderql.user_account TABLE removed; TRUNCATE removed;
               INSERT INTO orderql.group_member (user_id, group_id) VALUES ('bea', 'API')",
        status: 401,
    },
    Revocation {
        take: "DELETE FROM orderql.group_member WHERE user_id = 'cid'",
        give: "INSERT INTO orderql.group_member (user_id, group_id) VALUES ('cid', 'API')",
        status: 403,
    },
    Revocation {
        take: "DELETE FROM orderql.artifact_grant WHERE group_id = 'API' AND artifact_group_id = 'UPDATE_ORDER'",
        give: "INSERT INTO orderql.artifact_grant (group_id, artifact_group_id) VALUES ('API', 'UPDATE_ORDER')",
        status: 403,
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_revoked_is_refused_by_every_server_within_two_seconds() {
    let rounds = number("REVOCATIONS", REVOCATIONS.len()).div_ceil(REVOCATIONS.len());
    let databases = Servers::start("revocation", [&[], &[]]).await;
    let (primary, replicas) = (Servers::primary_address(&[&databases.primary]), databases.replica_addresses());
    let nowhere = "host=/nowhere user=postgres dbname=orders";
    let servers = [
        ("reads replicas", start(&primary, &["--replica-urls", &replicas])),
        ("receives no notifications", start(&primary, &["--listen-url", nowhere])),
        ("has the primary alone", start(&primary, &[])),
        ("reaches no primary", start(nowhere, &["--replica-urls", &replicas])),
    ];
    let tokens: [String; REVOCATIONS.len()] = std::array::from_fn(|caller| servers[0].1.token(CALLERS[caller]));
    let client = databases.primary.connect().await;
    client.batch_execute("CREATE TABLE removed (LIKE orderql.user_account)").await.unwrap();

    // How long each server took.
    let mut delays = [(); 4].map(|()| Vec::new());
    for _ in 0..rounds {
        for (caller, revocation) in REVOCATIONS.iter().enumerate() {
            let status = |server: &Server| status(server, &tokens[caller], caller);
            let is_refused = |server: &Server| match status(server) {
                // Without a primary, updates get 503 of callers who may send them.
                404 | 503 | 200 => false,
                refused if refused == revocation.status => true,
                other => panic!("{}: {other}", CALLERS[caller]),
            };
            for (_, server) in &servers {
                wait_until(|| !is_refused(server));
            }
            client.batch_execute(revocation.take).await.unwrap();
            let revoked = Instant::now();
            thread::scope(|scope| {
                for ((_, server), delays) in servers.iter().zip(&mut delays) {
                    scope.spawn(move || {
                        wait_until(|| is_refused(server));
                        delays.push(revoked.elapsed());
                    });
                }
            });
            client.batch_execute(revocation.give).await.unwrap();
        }
    }
    for ((name, server), mut delays) in servers.into_iter().zip(delays) {
        delays.sort_unstable();
        let (median, longest) = (delays[delays.len() / 2], delays[delays.len() - 1]);
        println!("a server that {name}: {} revocations, after {median:?}, {longest:?} at most", delays.len());
        // Where other tests run as well, one may be late.
        assert!(if rounds > 1 { longest } else { median } <= LONGEST, "a server that {name}: {delays:?}");
        let log = server.stop();
        let has_none = log.contains("no notifications of changed grants are received");
        assert_eq!(has_none, name.contains("no "), "a server that {name}: {log}");
    }
}

/// The status of a query of the caller, or of an update of the last one.
fn status(server: &Server, token: &str, caller: usize) -> u16 {
    let request = if caller == REVOCATIONS.len() - 1 {
        let form = "facilityId=STORM&box_shipmentId_0=NONE&box_shipmentBoxTypeId_0=YOURPACKNG&0_box_rowSubmit=0";
        update_request(token, &[URLENCODED], form)
    } else {
        graphql_request(token, GRAPHQL_JSON, "{ __typename }")
    };
    server.send(request).status
}
