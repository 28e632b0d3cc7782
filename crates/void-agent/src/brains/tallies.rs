//! Tokens as a provider counts them, piece by piece, and a stand-in for what it does not count.

use super::Usage;

/// What is usual for English text; code and other scripts have fewer bytes to a token.
const BYTES_PER_TOKEN: usize = 4;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub input: Option<u64>,
    pub output: Option<u64>,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Tally {
    pub(super) fn settle(self, prompt_bytes: usize, reply_bytes: usize) -> Usage {
        Usage {
            input: self.input.unwrap_or_else(|| estimate(prompt_bytes)),
            output: self.output.unwrap_or_else(|| estimate(reply_bytes)),
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            is_estimate: self.input.is_none() || self.output.is_none(),
        }
    }

    /// Of an answer that failed midway: the final count never came.
    pub(super) fn settle_torn(self, prompt_bytes: usize, reply_bytes: usize) -> Usage {
        let output = self.output.unwrap_or(0).max(estimate(reply_bytes));
        Usage {
            output,
            is_estimate: true,
            ..self.settle(prompt_bytes, reply_bytes)
        }
    }
}

impl Usage {
    /// Of several attempts, or several answers of one turn.
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            is_estimate: self.is_estimate || other.is_estimate,
        }
    }
}

fn estimate(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}
