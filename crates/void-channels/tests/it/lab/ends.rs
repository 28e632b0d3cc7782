//! How things end, and waiting for it.

use std::process::Output;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use void_act::{Answer, Outcome as Said, Reason};
use void_channels::{Evidence, Outcome};
use void_domain::proposals::Failure;
use void_domain::time::Timestamp;
use void_testkit::eventually;

/// What the plain client got back from `void-act`.
#[track_caller]
pub(crate) fn answer(output: &Output) -> Answer {
    let answer = serde_json::from_slice(&output.stdout);
    answer.unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[track_caller]
pub(crate) fn is_refused(output: &Output) -> Reason {
    assert_eq!(output.status.code(), Some(13), "{output:?}");
    let answer = answer(output);
    assert_eq!(answer.outcome, Said::Refused);
    assert!(
        !output
            .stdout
            .iter()
            .any(|byte| *byte < b' ' && *byte != b'\n'),
        "{output:?}"
    );
    answer.reason.unwrap()
}

/// The host compares tickets with its real clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_ms(0).plus(since)
}

#[track_caller]
pub(crate) fn done(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Done { result } => result,
        other => panic!("expected done: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn failed(outcome: Outcome, code: &str) -> Failure {
    match outcome {
        Outcome::Failed(failure) if failure.code == code => failure,
        other => panic!("expected failed with {code}: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn no_evidence(evidence: Evidence) -> Failure {
    match evidence {
        Evidence::None(failure) => failure,
        other => panic!("expected no evidence: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn unknown(outcome: Outcome) -> Failure {
    match outcome {
        Outcome::Unknown(failure) => failure,
        other => panic!("expected unknown: {other:?}"),
    }
}

/// Marsaglia's xorshift: a seed gives one sequence, on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

pub(crate) async fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    eventually(what, || std::future::ready(holds().then_some(()))).await;
}

/// Runs two that mostly wait beside each other.
pub(crate) async fn beside<F: Future<Output = ()> + Send + 'static>(one: F, other: F) {
    let (one, other) = (tokio::spawn(one), tokio::spawn(other));
    one.await.unwrap();
    other.await.unwrap();
}

/// Ends a test that hangs with words instead of a killed job.
pub(crate) async fn within<T>(seconds: u64, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(seconds), future)
        .await
        .expect("it takes far too long")
}
