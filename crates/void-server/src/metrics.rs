//! Prometheus: few metrics, bounded labels, counted from the same events that everyone sees.

use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge as PrometheusGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use serde_json::Value;
use void_control::Control;
use void_domain::events::EventKind;

use crate::app::App;

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

pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    listeners: PrometheusGauge,
    open: PrometheusGauge,
    frozen: PrometheusGauge,
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
        }
    }

    pub(crate) fn listener(&self) -> Gauge {
        self.listeners.inc();
        Gauge(self.listeners.clone())
    }

    pub(crate) fn render(&self, open: u64, frozen: bool) -> String {
        self.open.set(i64::try_from(open).unwrap_or(i64::MAX));
        self.frozen.set(i64::from(frozen));
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
    let mut events = control.hub().subscribe(&control, None);
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
            let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
            let tier = match payload.get("tier").and_then(Value::as_str) {
                Some("safe") => "safe",
                Some("risky") => "risky",
                _ => continue,
            };
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
            if decided && tier == "risky" {
                let waited_ms = payload
                    .get("waited_ms")
                    .and_then(Value::as_u64)
                    .unwrap_or(0);
                decisions.observe(waited_ms as f64 / 1000.0);
            }
        }
    });
}

/// Counts every answer by its route's pattern, never by what a caller wrote.
pub(crate) async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("other", MatchedPath::as_str)
        .to_owned();
    let response = next.run(request).await;
    let status = match response.status().as_u16() {
        100..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        _ => "5xx",
    };
    app.shared()
        .metrics
        .requests
        .get_or_create(&RequestLabels { route, status })
        .inc();
    response
}
