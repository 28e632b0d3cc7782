//! Numbers from samples: rates, quantiles, medians over rounds.

use std::time::Duration;

use serde_json::{Value, json};

/// One round of one operation.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    pub answers: usize,
    pub per_s: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// What the server computed for one answer: hardly touched by what else the machine does.
    pub cpu_us: Option<f64>,
}

impl Round {
    pub(crate) fn new(mut micros: Vec<u32>, elapsed: Duration) -> Self {
        micros.sort_unstable();
        Self {
            answers: micros.len(),
            per_s: per_second(micros.len(), elapsed),
            p50_ms: f64::from(quantile(&micros, 50)) / 1_000.0,
            p99_ms: f64::from(quantile(&micros, 99)) / 1_000.0,
            cpu_us: None,
        }
    }

    /// With what the server computed in this round.
    pub(crate) fn computed(self, in_all: Duration) -> Self {
        let cpu_us = in_all.as_secs_f64() * 1e6 / self.answers.max(1) as f64;
        Self {
            cpu_us: Some(cpu_us),
            ..self
        }
    }

    /// The middle of several rounds, number by number; answers add up.
    pub(crate) fn middle(rounds: &[Self]) -> Self {
        let each = |number: fn(&Self) -> f64| median(rounds.iter().map(number));
        Self {
            answers: rounds.iter().map(|round| round.answers).sum(),
            per_s: each(|round| round.per_s),
            p50_ms: each(|round| round.p50_ms),
            p99_ms: each(|round| round.p99_ms),
            cpu_us: rounds
                .iter()
                .all(|round| round.cpu_us.is_some())
                .then(|| each(|round| round.cpu_us.unwrap_or(0.0))),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "answers": self.answers,
            "per_s": rounded(self.per_s),
            "p50_ms": rounded(self.p50_ms),
            "p99_ms": rounded(self.p99_ms),
            "cpu_us": self.cpu_us.map(rounded),
        })
    }
}

pub(crate) fn per_second(count: usize, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64().max(1e-9)
}

/// Of sorted numbers; 0 of none.
pub(crate) fn quantile(sorted: &[u32], percent: usize) -> u32 {
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * percent / 100).copied().unwrap_or(0)
}

pub(crate) fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// The median of what each round gives by itself: both sides of a round saw the same machine.
pub(crate) fn median_ratio(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    median(pairs.map(|(above, below)| above / below.max(1e-9)))
}

/// Three digits are more than the machine's noise allows.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_medians_of_few_and_none() {
        let sorted: Vec<u32> = (1..=101).collect();
        assert_eq!((quantile(&sorted, 50), quantile(&sorted, 99)), (51, 100));
        assert_eq!(quantile(&[], 99), 0);
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < 1e-9);
        assert!(
            (median_ratio([(1.0, 2.0), (3.0, 4.0), (9.0, 1.0)].into_iter()) - 0.75).abs() < 1e-9
        );
        let round = Round::new(vec![3_000, 1_000, 2_000], Duration::from_secs(1));
        assert_eq!(round.answers, 3);
        assert!((round.p50_ms - 2.0).abs() < 1e-9);
    }
}
