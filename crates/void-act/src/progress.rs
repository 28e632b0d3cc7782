//! What a running command says, line by line, for whoever waits for it.
//!
//! Bounded so that it always fits into a pipe: a reader that stands still cannot hold up the command.

const LINES_MAX: usize = 200;
const LINE_BYTES_MAX: usize = 500;
const BYTES_MAX: usize = 16 << 10;

/// Who is told each line.
pub(crate) type Listener<'a> = &'a mut dyn FnMut(&str);

/// Cuts what a stream brings into lines, until enough was said.
pub(crate) struct Lines {
    partial: Vec<u8>,
}

/// How much may still be said, over both streams.
pub(crate) struct Budget {
    lines: usize,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self {
            lines: LINES_MAX,
            bytes: BYTES_MAX,
        }
    }

    fn take(&mut self, bytes: usize) -> bool {
        let enough = self.lines > 0 && bytes <= self.bytes;
        if enough {
            self.lines -= 1;
            self.bytes -= bytes;
        }
        enough
    }
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self {
            partial: Vec::new(),
        }
    }

    pub(crate) fn feed(&mut self, chunk: &[u8], budget: &mut Budget, tell: Listener<'_>) {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_BYTES_MAX.saturating_sub(self.partial.len());
            self.partial.extend(part.iter().take(room));
            if part.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&self.partial);
                let line = line.trim_end();
                if !line.is_empty() && budget.take(line.len()) {
                    tell(line);
                }
                self.partial.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(chunks: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut budget, mut told) = (Lines::new(), Budget::new(), Vec::new());
        for chunk in chunks {
            lines.feed(chunk, &mut budget, &mut |line| told.push(line.to_owned()));
        }
        told
    }

    #[test]
    fn lines_come_whole_cut_and_bounded() {
        assert_eq!(
            told(&[b"pull", b"ing\r\n\n", b"a\nb\nrest"]),
            ["pulling", "a", "b"]
        );
        let long = [b"x".repeat(3 * LINE_BYTES_MAX), b"\nnext\n".to_vec()].concat();
        let said = told(&[&long]);
        assert_eq!((said[0].len(), said[1].as_str()), (LINE_BYTES_MAX, "next"));
        assert_eq!(told(&[&b"y\n".repeat(10_000)]).len(), LINES_MAX);
        let full = [b"z".repeat(400), b"\n".to_vec()].concat().repeat(100);
        let bytes: usize = told(&[&full]).iter().map(String::len).sum();
        assert!(bytes <= BYTES_MAX);
    }
}
