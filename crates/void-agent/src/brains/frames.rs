//! Cuts a stream of bytes into frames: server-sent events or JSON lines.
//!
//! Bytes may be split anywhere. Only the unfinished line is kept, every byte is looked at once, and
//! text is decoded when its line is whole, so a split character cannot be seen. Lines end with LF or
//! CRLF; the lone CR that the SSE standard also allows is not used by any of these servers.

use std::ops::Range;

/// One line, and one event of several lines.
pub const FRAME_BYTES_MAX: usize = 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Events,
    Lines,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// The server calls it an error: `event: error`, or llama.cpp's field `error:`.
    pub is_error: bool,
    pub data: &'a [u8],
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

pub(super) struct Frames {
    framing: Framing,
    lines: Lines,
    data: Vec<u8>,
    has_data: bool,
    is_error: bool,
    is_delivered: bool,
}

impl Frames {
    pub(super) fn new(framing: Framing) -> Self {
        Self {
            framing,
            lines: Lines::default(),
            data: Vec::new(),
            has_data: false,
            is_error: false,
            is_delivered: false,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// Nothing follows: what is there counts as whole.
    pub(super) fn end(&mut self) {
        self.lines.push(b"\n\n");
    }

    pub(super) fn next(&mut self) -> Result<Option<Frame<'_>>, TooLong> {
        match self.framing {
            Framing::Events => self.next_event(),
            Framing::Lines => self.next_line(),
        }
    }

    fn next_line(&mut self) -> Result<Option<Frame<'_>>, TooLong> {
        while let Some(range) = self.lines.next()? {
            if !self.lines.get(range.clone()).trim_ascii().is_empty() {
                let data = self.lines.get(range);
                return Ok(Some(Frame {
                    is_error: false,
                    data,
                }));
            }
        }
        Ok(None)
    }

    fn next_event(&mut self) -> Result<Option<Frame<'_>>, TooLong> {
        if self.is_delivered {
            self.data.clear();
            (self.has_data, self.is_error, self.is_delivered) = (false, false, false);
        }
        while let Some(range) = self.lines.next()? {
            if range.is_empty() {
                if self.has_data {
                    self.is_delivered = true;
                    return Ok(Some(Frame {
                        is_error: self.is_error,
                        data: &self.data,
                    }));
                }
                self.is_error = false;
                continue;
            }
            let line = self.lines.get(range);
            let (field, value) = field_of(line);
            match field {
                b"event" => self.is_error = value == b"error",
                b"data" | b"error" => {
                    self.is_error |= field == b"error";
                    if self.data.len() + value.len() > FRAME_BYTES_MAX {
                        return Err(TooLong);
                    }
                    if self.has_data {
                        self.data.push(b'\n');
                    }
                    self.has_data = true;
                    self.data.extend_from_slice(value);
                }
                _comment_or_unknown => {}
            }
        }
        Ok(None)
    }
}

/// `field: value`, the one space after the colon not counted.
fn field_of(line: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = line.splitn(2, |byte| *byte == b':');
    let field = parts.next().unwrap_or_default();
    let value = parts.next().unwrap_or_default();
    (field, value.strip_prefix(b" ").unwrap_or(value))
}

#[derive(Default)]
struct Lines {
    buffer: Vec<u8>,
    /// Where the next line begins, and how far its end was looked for.
    start: usize,
    scanned: usize,
    has_begun: bool,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line without its end.
    fn next(&mut self) -> Result<Option<Range<usize>>, TooLong> {
        let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
        let Some(found) = unseen.iter().position(|byte| *byte == b'\n') else {
            self.scanned = self.buffer.len();
            if self.scanned - self.start > FRAME_BYTES_MAX {
                return Err(TooLong);
            }
            return Ok(None);
        };
        let (mut start, mut end) = (self.start, self.scanned + found);
        self.start = end + 1;
        self.scanned = self.start;
        if !self.has_begun {
            self.has_begun = true;
            if self.get(start..end).starts_with(BYTE_ORDER_MARK) {
                start += BYTE_ORDER_MARK.len();
            }
        }
        if self.get(start..end).ends_with(b"\r") {
            end -= 1;
        }
        if end - start > FRAME_BYTES_MAX {
            return Err(TooLong);
        }
        Ok(Some(start..end))
    }

    fn get(&self, range: Range<usize>) -> &[u8] {
        self.buffer.get(range).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
