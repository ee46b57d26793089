//! The metrics that are not recorded but read from the service when somebody asks.

use std::time::SystemTime;

use crate::api::metrics;
use crate::api::operators::readiness::{Readiness, ServicePart};
use crate::api::service::Service;
use crate::change_feed::status::FeedStatus;
use crate::database::metrics::PoolName;
use crate::database::pool::pool_status::PoolStatus;
use crate::replicas::positions::ReplicaState;
use crate::telemetry::metrics::exposition::{self, ExpositionFormat};
use crate::telemetry::metrics::label::Label;
use crate::telemetry::metrics::reading::{Description, Metric, MetricKind, Series, SeriesValue};

/// A figure that is read from the service.
struct ServiceFigure {
    description: Description,
    read: fn(&Service) -> Vec<Series>,
}

/// A figure of a service.
struct FigureOf<'a> {
    figure: &'static ServiceFigure,
    service: Option<&'a Service>,
}

const POOL: &str = PoolName::NAME;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

static FIGURES: [ServiceFigure; 23] = [
    figure("orderql_build_info", MetricKind::Gauge, &["version"], "The version that runs; the value is 1.", |_| {
        vec![Series::whole(vec![env!("CARGO_PKG_VERSION")], 1)]
    }),
    figure("orderql_ready", MetricKind::Gauge, &[], "1 while the server can answer queries, else 0.", |service| {
        vec![Series::whole(Vec::new(), Readiness::of(service).is_ready().into())]
    }),
    figure(
        "orderql_part_ok",
        MetricKind::Gauge,
        &["part"],
        "1 while nothing is wrong with a part of the server, else 0; `/health/ready` says what.",
        |service| {
            let parts = Readiness::of(service).parts;
            let series = |part: &ServicePart| Series::new([part.name.clone()], SeriesValue::Whole(part.is_ok().into()));
            parts.iter().map(series).collect()
        },
    ),
    figure(
        "db_client_connection_count",
        MetricKind::Gauge,
        &[POOL, "db_client_connection_state"],
        "Open connections to the database.",
        |service| {
            let states = |(name, status): (&'static str, PoolStatus)| {
                [("idle", status.idle), ("used", status.used)]
                    .map(|(state, count)| Series::whole(vec![name, state], count))
            };
            pools(service).into_iter().flat_map(states).collect()
        },
    ),
    figure(
        "db_client_connection_max",
        MetricKind::Gauge,
        &[POOL],
        "The most connections that a pool opens.",
        |service| of_pools(service, |status| status.max),
    ),
    figure(
        "db_client_connection_pending_requests",
        MetricKind::Gauge,
        &[POOL],
        "Requests that wait for a connection.",
        |service| of_pools(service, |status| status.waiting),
    ),
    figure(
        "orderql_reads_total",
        MetricKind::Counter,
        &["server", "reason"],
        "Queries and exports that were begun on a server, by the reason why it was that one.",
        |service| {
            let servers = service.servers.all().flat_map(|server| {
                let name = server.name.to_string();
                server.read_counts().map(move |(reason, count)| {
                    Series::new([name.clone(), reason.to_owned()], SeriesValue::Whole(count))
                })
            });
            servers.collect()
        },
    ),
    figure(
        "orderql_replica_lag_seconds",
        MetricKind::Gauge,
        &["server"],
        "How old the data of a replica is, at most, compared with the primary, or, while the primary is away, with the replica that is ahead.",
        |service| {
            let lags = service.servers.replica_states().filter_map(|(server, state)| {
                let (ReplicaState::Current(lag) | ReplicaState::Lagging(Some(lag))) = state else { return None };
                Some(Series::new([server.name.to_string()], SeriesValue::Real(lag.as_secs_f64())))
            });
            lags.collect()
        },
    ),
    figure(
        "orderql_queued_requests",
        MetricKind::Gauge,
        &["kind"],
        "Requests that wait for their callers' other requests, or for credits.",
        |service| {
            let waiting = [("query", service.admission.waiting()), ("update", service.updates.waiting_in_all())];
            waiting.into_iter().map(|(kind, count)| Series::whole(vec![kind], count)).collect()
        },
    ),
    figure(
        "orderql_query_cache_lookups_total",
        MetricKind::Counter,
        &["cache", "result"],
        "Look-ups of query texts, and of the plans of texts that were found.",
        |service| {
            let statistics = service.views.whole().compiler.cache_statistics();
            let (texts, plans) = (statistics.texts, statistics.plans);
            let count = |cache, result, count| Series::new([cache, result], SeriesValue::Whole(count));
            vec![
                count("text", "hit", texts.hits),
                count("text", "miss", texts.misses),
                count("plan", "hit", plans.hits),
                count("plan", "miss", plans.misses),
            ]
        },
    ),
    figure(
        "orderql_query_cache_bytes",
        MetricKind::Gauge,
        &[],
        "Bytes of cached query texts with their plans.",
        |service| vec![Series::whole(Vec::new(), service.views.whole().compiler.cache_statistics().bytes)],
    ),
    figure(
        "orderql_persisted_queries",
        MetricKind::Gauge,
        &[],
        "Query texts that are stored by their hash.",
        |service| vec![Series::whole(Vec::new(), service.persisted_queries.usage().0)],
    ),
    figure(
        "orderql_persisted_query_bytes",
        MetricKind::Gauge,
        &[],
        "Bytes of the query texts that are stored by their hash.",
        |service| vec![Series::whole(Vec::new(), service.persisted_queries.usage().1)],
    ),
    figure(
        "orderql_request_memory_bytes",
        MetricKind::Gauge,
        &[],
        "Memory that requests and unread responses take, as counted against `memory-budget`.",
        |service| vec![Series::whole(Vec::new(), service.http.memory.used())],
    ),
    figure("orderql_request_memory_limit_bytes", MetricKind::Gauge, &[], "The setting `memory-budget`.", |service| {
        vec![Series::whole(Vec::new(), service.http.memory.limit())]
    }),
    figure("orderql_buckets", MetricKind::Gauge, &[], "Callers whose buckets were not full lately.", |service| {
        vec![Series::whole(Vec::new(), service.admission.bucket_count())]
    }),
    figure(
        "orderql_bucket_store_up",
        MetricKind::Gauge,
        &[],
        "1 while the store of `bucket-url` is reached, else 0; nothing where there is none.",
        |service| service.shared_store.iter().map(|store| Series::whole(Vec::new(), store.is_up().into())).collect(),
    ),
    figure(
        "orderql_certificate_days",
        MetricKind::Gauge,
        &[],
        "Days until the first certificate of `tls-cert` that is in force expires, 0 from then on; nothing where there is none.",
        |service| {
            let expiry = service.http.tls.iter().filter_map(|tls| tls.expiry);
            let left = expiry.map(|expiry| expiry.duration_since(SystemTime::now()).unwrap_or_default());
            left.map(|left| Series::new([] as [String; 0], SeriesValue::Real(left.as_secs_f64() / DAY))).collect()
        },
    ),
    figure(
        "orderql_changes_lag_seconds",
        MetricKind::Gauge,
        &[],
        "Seconds since the newest tick of the change feeds, which comes every ten seconds; nothing where there are no feeds.",
        |service| changes(service, |status| status.lag),
    ),
    figure(
        "orderql_changes_oldest_writer_seconds",
        MetricKind::Gauge,
        &[],
        "How long the oldest transaction that writes takes already, at most; nothing where there are no feeds.",
        |service| changes(service, |status| status.oldest_writer),
    ),
    figure(
        "orderql_changes_marks",
        MetricKind::Gauge,
        &["feed"],
        "About how many marks of changes a feed keeps: at least one for each row that ever changed.",
        |service| {
            let status = service.change_feeds.status();
            let marks = status.into_iter().flat_map(|status| status.marks);
            marks.map(|(feed, marks)| Series::new([feed], SeriesValue::Whole(marks.unsigned_abs()))).collect()
        },
    ),
    figure(
        "orderql_parked_requests",
        MetricKind::Gauge,
        &[],
        "Requests that wait for changes: with `Prefer: wait`, or exports of a change feed.",
        |service| vec![Series::whole(Vec::new(), service.change_watcher.waiting())],
    ),
    figure("orderql_accounts", MetricKind::Gauge, &[], "Enabled accounts.", |service| {
        vec![Series::whole(Vec::new(), service.grants.current().account_count())]
    }),
];

const fn figure(
    name: &'static str,
    kind: MetricKind,
    labels: &'static [&'static str],
    help: &'static str,
    read: fn(&Service) -> Vec<Series>,
) -> ServiceFigure {
    ServiceFigure { description: Description { name, help, kind, labels }, read }
}

impl Metric for FigureOf<'_> {
    fn description(&self) -> Description {
        self.figure.description
    }

    fn series(&self) -> Vec<Series> {
        self.service.map(self.figure.read).unwrap_or_default()
    }
}

fn changes(service: &Service, read: fn(&FeedStatus) -> Option<f64>) -> Vec<Series> {
    let value = service.change_feeds.status().and_then(|status| read(&status));
    value.map(|value| Series::new([] as [String; 0], SeriesValue::Real(value))).into_iter().collect()
}

fn pools(service: &Service) -> [(&'static str, PoolStatus); 3] {
    let name = |name: PoolName| PoolName::text(name.index());
    [
        (name(PoolName::Queries), service.servers.query_pools()),
        (name(PoolName::Updates), service.writer.status()),
        (name(PoolName::Exports), service.servers.export_pools()),
    ]
}

fn of_pools(service: &Service, read: fn(&PoolStatus) -> usize) -> Vec<Series> {
    pools(service).iter().map(|(name, status)| Series::whole(vec![name], read(status))).collect()
}

/// All metrics of the server, as text for Prometheus.
pub(crate) fn exposition(service: &Service, format: ExpositionFormat) -> Result<String, std::fmt::Error> {
    let figures: Vec<_> = figures(Some(service)).collect();
    let all = metrics::recorded().chain(figures.iter().map(|figure| figure as &dyn Metric));
    exposition::expose(all, format)
}

/// All metrics of the server as a Markdown table, for the documentation.
pub fn markdown_table() -> String {
    let figures: Vec<_> = figures(None).collect();
    exposition::markdown_table(metrics::recorded().chain(figures.iter().map(|figure| figure as &dyn Metric)))
}

fn figures(service: Option<&Service>) -> impl Iterator<Item = FigureOf<'_>> {
    FIGURES.iter().map(move |figure| FigureOf { figure, service })
}
