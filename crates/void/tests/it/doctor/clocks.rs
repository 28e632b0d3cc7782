//! Clocks that disagree: the doctor runs an hour beside the server and Proxmox, by libfaketime.

use super::pve::{self, access, needed, set};
use super::{amiss, fine, report};
use crate::lab::word;

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

#[test]
fn clocks_that_disagree_are_named() {
    let proxmox = pve::start(access(&needed()));
    let mut lab = pve::lab(&proxmox);
    let _server = lab.serve(&[]);
    let now = report(&lab);
    fine(&now, "clock");
    set(&mut lab, "LD_PRELOAD", LIBRARY);
    set(&mut lab, "FAKETIME_DONT_FAKE_MONOTONIC", "1");
    for (clock, direction) in [("-3600", "ahead of"), ("+3600", "behind")] {
        set(&mut lab, "FAKETIME", clock);
        let found = amiss(&report(&lab), "clock");
        assert_eq!(found.len(), 2, "{found:?}");
        for (finding, whose) in found.iter().zip(["Proxmox' clock", "the server's clock"]) {
            let message = word(finding, "message");
            assert!(message.starts_with(whose), "{message}");
            assert!(
                message.contains(" s ") && message.contains(direction),
                "{message}"
            );
            assert!(
                message.contains("359") || message.contains("360"),
                "{message}"
            );
            assert!(word(finding, "next").starts_with("timedatectl "));
        }
    }
    // What a network takes is no skew.
    set(&mut lab, "FAKETIME", "-3");
    fine(&report(&lab), "clock");
}
