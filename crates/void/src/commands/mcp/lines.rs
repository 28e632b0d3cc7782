//! Whole lines from a reader, as many at a time as have arrived.

use std::io::{self, Read};

use void_domain::limits::REQUEST_BODY_BYTES_MAX;

const READ_BYTES: usize = 64 * 1024;
/// More than all tools have to say about the largest catalogue.
pub(super) const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(super) struct InputLines<R> {
    reader: R,
    /// Room for what is read; what is in use is `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    line_bytes_max: usize,
    /// The rest of a line that is too long is passed over.
    skips: bool,
}

pub(super) enum InputLine<'a> {
    /// One or more, each with its end.
    Whole(&'a [u8]),
    TooLong,
}

impl<R: Read> InputLines<R> {
    /// What a client says.
    pub(super) const fn of(reader: R) -> Self {
        Self {
            reader,
            start: 0,
            end: 0,
            buffer: Vec::new(),
            line_bytes_max: REQUEST_BODY_BYTES_MAX,
            skips: false,
        }
    }

    /// What the server answers, beginning with what was read before.
    pub(super) fn after(early: Vec<u8>, reader: R) -> Self {
        Self {
            end: early.len(),
            buffer: early,
            line_bytes_max: ANSWER_BYTES_MAX,
            ..Self::of(reader)
        }
    }

    /// What has arrived; `None` at the end. A last line without an end is one too.
    pub(super) fn next(&mut self) -> io::Result<Option<InputLine<'_>>> {
        // How much of what is in use is known to hold no end of a line.
        let mut seen = 0;
        loop {
            if self.skips {
                self.skip();
            }
            let fresh = self.buffer.get(self.start + seen..self.end);
            let fresh = fresh.unwrap_or_default();
            if let Some(last) = fresh.iter().rposition(|byte| *byte == b'\n') {
                let start = self.start;
                self.start += seen + last + 1;
                return Ok(self.buffer.get(start..self.start).map(InputLine::Whole));
            }
            seen = self.end - self.start;
            if seen > self.line_bytes_max {
                self.start = self.end;
                self.skips = true;
                return Ok(Some(InputLine::TooLong));
            }
            if self.fill()? == 0 {
                let last = self.buffer.get(self.start..self.end);
                let last = last.unwrap_or_default().to_vec();
                if last.is_empty() {
                    return Ok(None);
                }
                // Nothing follows, so it may be taken for whole.
                self.buffer = [last, vec![b'\n']].concat();
                (self.start, self.end) = (self.buffer.len(), self.buffer.len());
                return Ok(Some(InputLine::Whole(&self.buffer)));
            }
        }
    }

    /// Passes over the rest of a line, as far as it has arrived.
    fn skip(&mut self) {
        let used = self.buffer.get(self.start..self.end).unwrap_or_default();
        let end = used.iter().position(|byte| *byte == b'\n');
        self.start = end.map_or(self.end, |end| self.start + end + 1);
        self.skips = end.is_none();
    }

    /// Reads more, behind what is in use.
    fn fill(&mut self) -> io::Result<usize> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < self.end + READ_BYTES / 2 {
            self.buffer.resize(self.end + READ_BYTES, 0);
        }
        loop {
            let free = self.buffer.get_mut(self.end..).unwrap_or_default();
            match self.reader.read(free) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.end += read;
                    return Ok(read);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives what it has in pieces of a few bytes.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, free: &mut [u8]) -> io::Result<usize> {
            let size = self.1.min(self.0.len()).min(free.len());
            let (now, later) = self.0.split_at(size);
            free[..size].copy_from_slice(now);
            self.0 = later;
            Ok(size)
        }
    }

    fn all(text: &[u8], size: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = InputLines::of(Pieces(text, size));
        let mut seen = Vec::new();
        while let Some(arrived) = lines.next().unwrap() {
            match arrived {
                InputLine::TooLong => seen.push(None),
                InputLine::Whole(whole) => {
                    let parts = whole.split_inclusive(|byte| *byte == b'\n');
                    seen.extend(parts.map(|line| Some(line.to_vec())));
                }
            }
        }
        seen
    }

    #[test]
    fn lines_are_whole_however_they_arrive() {
        let text = b"one\n\ntwo and more\nlast";
        let expected: Vec<Option<Vec<u8>>> = [&b"one\n"[..], b"\n", b"two and more\n", b"last\n"]
            .map(|line| Some(line.to_vec()))
            .to_vec();
        for size in 1..30 {
            assert_eq!(all(text, size), expected, "{size}");
        }
        assert_eq!(all(b"", 1), Vec::new());
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_told() {
        let lengths = |text: &[u8], size| -> Vec<Option<usize>> {
            let lines = all(text, size).into_iter();
            lines.map(|line| line.map(|line| line.len())).collect()
        };
        for size in [1_000, READ_BYTES] {
            for over in [size, READ_BYTES, 2 * REQUEST_BODY_BYTES_MAX] {
                let mut text = vec![b'x'; REQUEST_BODY_BYTES_MAX + over];
                text.extend_from_slice(b"\nshort\nothers\n");
                assert_eq!(
                    lengths(&text, size),
                    [None, Some(6), Some(7)],
                    "{size} {over}"
                );
            }
            let fits = vec![b'x'; REQUEST_BODY_BYTES_MAX];
            assert_eq!(lengths(&fits, size), [Some(REQUEST_BODY_BYTES_MAX + 1)]);
        }
    }
}
