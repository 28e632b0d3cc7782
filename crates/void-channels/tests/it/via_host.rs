//! `"via":"host"`: guest power by `void-act` on the node, with the fixed argv of its own list.

use serde_json::json;
use void_channels::Evidence;

use crate::lab::{HOST, Lab, Listed, done, failed};

/// Stands for `pct`: leaves its path and arguments behind.
const PCT: &str =
    "#!/bin/sh\nprintf '%s\\n' \"$(printf '%s|' \"$0\" \"$@\")\" >> \"${0%/*}/marks/effects\"\n";

fn listed(way: &'static str) -> Vec<Listed> {
    let argv = |op: &str| json!(["@/pct", op, "107"]);
    vec![
        Listed::safe("start-ct107", argv("start"))
            .power("start")
            .on(way),
        Listed::risky("stop-ct107", argv("stop"))
            .power("stop")
            .on(way),
    ]
}

fn lab(way: &'static str) -> Lab {
    let lab = Lab::new(&listed(way));
    lab.sshd.install("pct", PCT);
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn guest_power_by_the_node_runs_its_listed_argv_once_and_needs_no_token() {
    for way in [HOST, "local"] {
        let lab = lab(way);
        assert!(!lab.channels.probe().has_proxmox());
        done(lab.run("stop-ct107").await);
        let running = lab.running("start-ct107", &json!({}));
        done(lab.execute(&running).await);
        assert_eq!(
            lab.effects(),
            ["@/pct|stop|107|", "@/pct|start|107|"],
            "{way}"
        );
        // The journal knows it, not a task list; and asking again runs nothing.
        assert!(matches!(lab.settle(&running).await, Evidence::Done { .. }));
        assert_eq!(lab.effects().len(), 2, "{way}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_for_another_operation_on_the_guest_is_drift() {
    let lab = lab(HOST);
    let mut list = lab.list(&listed(HOST));
    let start = lab.action("start-ct107").exec_digest();
    list["entries"][1]["def"] = json!(start);
    lab.write_list(&list);
    failed(lab.run("stop-ct107").await, "drift");
    assert!(lab.effects().is_empty());
}
