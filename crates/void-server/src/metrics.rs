//! Prometheus: few metrics, bounded labels, counted from the same events that everyone sees.

use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge as PrometheusGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use void_control::Control;
use void_control::retention::Sizes;
use void_domain::catalogue::Tier;
use void_domain::events::EventKind;
use void_domain::retention::Kept;

const RETRY_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct EventLabels {
    event: &'static str,
    tier: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    status: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct HeldBackLabels {
    what: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct FileLabels {
    file: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct TableLabels {
    table: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

/// How large what grows is, and for how long it is kept.
#[derive(Debug, Default)]
struct Storage {
    bytes: Family<FileLabels, PrometheusGauge>,
    attachment_bytes: PrometheusGauge,
    rows: Family<TableLabels, PrometheusGauge>,
    days: Family<KindLabels, PrometheusGauge>,
}

impl Storage {
    fn register(&self, registry: &mut Registry) {
        registry.register(
            "database_bytes",
            "What the database takes on its disk, by file",
            self.bytes.clone(),
        );
        registry.register(
            "attachment_bytes",
            "What all attachments are together",
            self.attachment_bytes.clone(),
        );
        registry.register("rows", "Rows of the tables that grow", self.rows.clone());
        registry.register(
            "retention_days",
            "For how long what is over is kept, by kind",
            self.days.clone(),
        );
    }

    fn set(&self, sizes: &Sizes) {
        let files = [
            ("database", Some(sizes.bytes.database)),
            ("wal", sizes.bytes.log),
        ];
        for (file, bytes) in files {
            if let Some(bytes) = bytes {
                set(&self.bytes.get_or_create(&FileLabels { file }), bytes);
            }
        }
        set(&self.attachment_bytes, sizes.attachment_bytes);
        for (table, rows) in &sizes.rows {
            set(&self.rows.get_or_create(&TableLabels { table }), *rows);
        }
        for kept in Kept::ALL {
            let kind = kept.as_str();
            let days = u64::from(sizes.kept.days(kept));
            set(&self.days.get_or_create(&KindLabels { kind }), days);
        }
    }
}

fn set(gauge: &PrometheusGauge, value: u64) {
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
}

/// Everything that can be held back; each is shown from the start, as none.
const HELD_BACK: [&str; 8] = [
    "bytes",
    "connections",
    "open",
    "refusals",
    "requests",
    "rows",
    "strangers",
    "streams",
];

/// What was held back because somebody was over a budget.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeldBack(Family<HeldBackLabels, Counter>);

impl HeldBack {
    pub(crate) fn count(&self, what: &'static str) {
        self.0.get_or_create(&HeldBackLabels { what }).inc();
    }

    /// What is counted elsewhere.
    fn set(&self, what: &'static str, total: u64) {
        let counter = self.0.get_or_create(&HeldBackLabels { what });
        counter.inc_by(total.saturating_sub(counter.get()));
    }
}

pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    listeners: PrometheusGauge,
    open: PrometheusGauge,
    frozen: PrometheusGauge,
    storage: Storage,
    held_back: HeldBack,
    control: Control,
}

impl Metrics {
    pub(crate) fn start(control: &Control) -> Self {
        let mut registry = Registry::with_prefix("void");
        let proposals = Family::<EventLabels, Counter>::default();
        let decisions =
            Histogram::new([1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0]);
        let requests = Family::default();
        let (listeners, open, frozen) = (
            PrometheusGauge::default(),
            PrometheusGauge::default(),
            PrometheusGauge::default(),
        );
        registry.register(
            "proposal_events",
            "Proposals by what happened to them and their tier",
            proposals.clone(),
        );
        registry.register(
            "decision_seconds",
            "From asking to the owner's decision",
            decisions.clone(),
        );
        registry.register(
            "http_requests",
            "Requests by route and status class",
            Family::clone(&requests),
        );
        registry.register("event_listeners", "Open event streams", listeners.clone());
        registry.register(
            "open_proposals",
            "Proposals that wait for the owner",
            open.clone(),
        );
        registry.register("frozen", "1 while everything is frozen", frozen.clone());
        let storage = Storage::default();
        storage.register(&mut registry);
        let held_back = HeldBack::default();
        for what in HELD_BACK {
            held_back.set(what, 0);
        }
        registry.register(
            "held_back",
            "What was held back over a budget",
            Family::clone(&held_back.0),
        );
        let build: PrometheusGauge<i64, std::sync::atomic::AtomicI64> = PrometheusGauge::default();
        build.set(1);
        let version = [(("version").into(), env!("CARGO_PKG_VERSION").into())];
        registry
            .sub_registry_with_labels(version.into_iter())
            .register("build_info", "The running version", build);
        count_events(control.clone(), proposals, decisions);
        Self {
            registry,
            requests,
            listeners,
            open,
            frozen,
            storage,
            held_back,
            control: control.clone(),
        }
    }

    /// An answer of the route with this pattern, never of what a caller wrote.
    pub(crate) fn count_answer(&self, route: String, status: StatusCode) {
        let status = match status.as_u16() {
            100..=199 => "1xx",
            200..=299 => "2xx",
            300..=399 => "3xx",
            400..=499 => "4xx",
            _ => "5xx",
        };
        let labels = RequestLabels { route, status };
        self.requests.get_or_create(&labels).inc();
    }

    pub(crate) fn held_back(&self) -> HeldBack {
        self.held_back.clone()
    }

    pub(crate) fn listener(&self) -> Gauge {
        self.listeners.inc();
        Gauge(self.listeners.clone())
    }

    pub(crate) fn render(&self, open: u64, frozen: bool, sizes: &Sizes) -> String {
        set(&self.open, open);
        self.storage.set(sizes);
        self.frozen.set(i64::from(frozen));
        let (refusals, rows) = self.control.held_back();
        self.held_back.set("refusals", refusals);
        self.held_back.set("rows", rows);
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

/// Counts down when it is dropped.
pub(crate) struct Gauge(PrometheusGauge);

impl Drop for Gauge {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn count_events(control: Control, proposals: Family<EventLabels, Counter>, decisions: Histogram) {
    let mut events = control.subscribe(None);
    let mut stopping = control.stopping();
    tokio::spawn(async move {
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                _ = stopping.wait_for(|stop| *stop) => return,
            };
            let event = match event {
                Ok(Some(event)) => event,
                Ok(None) => return,
                // The database was away for a moment; the gap is read when it is back.
                Err(_) => {
                    tokio::time::sleep(RETRY_AFTER).await;
                    continue;
                }
            };
            let Some(proposal) = event.payload.proposal() else {
                continue;
            };
            let tier = proposal.tier.as_str();
            proposals
                .get_or_create(&EventLabels {
                    event: event.kind.as_str(),
                    tier,
                })
                .inc();
            let decided = matches!(
                event.kind,
                EventKind::ProposalApproved | EventKind::ProposalRejected
            );
            if decided && proposal.tier == Tier::Risky {
                decisions.observe(proposal.waited_ms as f64 / 1000.0);
            }
        }
    });
}
