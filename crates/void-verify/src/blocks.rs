//! Reading in blocks of whole lines, so that memory does not grow with the file, and reading the lines
//! of a block on several threads.

use std::io::{self, Read};
use std::thread;

use crate::entries::{self, Entry, LINE_BYTES_MAX};
use crate::stretches;

/// How much of the file is held at a time. More than the longest line.
pub(crate) const BLOCK_BYTES: usize = 8 << 20;
/// More threads than this gain nothing on a block.
const THREADS_MAX: usize = 64;

pub(crate) struct Blocks<R> {
    reader: R,
    buffer: Vec<u8>,
    /// How much of the buffer the last block was.
    given: usize,
}

impl<R: Read> Blocks<R> {
    pub(crate) fn new(reader: R) -> Self {
        Blocks {
            reader,
            buffer: Vec::with_capacity(BLOCK_BYTES),
            given: 0,
        }
    }

    /// Whole lines; only at the end of the file the last one may lack its newline.
    pub(crate) fn next_block(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.drain(..self.given);
        loop {
            let room = BLOCK_BYTES.saturating_sub(self.buffer.len());
            let read = (&mut self.reader)
                .take(room as u64)
                .read_to_end(&mut self.buffer)?;
            let newline = self.buffer.iter().rposition(|byte| *byte == b'\n');
            self.given = match newline {
                Some(at) => at + 1,
                None if read < room => self.buffer.len(),
                None => {
                    // A line longer than a block: its start is enough to be refused as too long.
                    self.buffer.truncate(LINE_BYTES_MAX + 1);
                    continue;
                }
            };
            return Ok(self
                .buffer
                .get(..self.given)
                .filter(|block| !block.is_empty()));
        }
    }
}

/// What a stretch of the file is. Neighbouring malformed lines are one stretch, so that a block of
/// rubbish costs no more memory than a block of entries.
pub(crate) enum BlockLine {
    Entry(Entry),
    Malformed { reason: String, lines: u64 },
}

/// The lines of the block in order, in as many pieces as there are threads.
pub(crate) fn read_lines(block: &[u8], threads: usize) -> io::Result<Vec<Vec<BlockLine>>> {
    let mut pieces = split(block, threads.clamp(1, THREADS_MAX));
    let own = pieces.pop().unwrap_or_default();
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for piece in pieces {
            workers.push(thread::Builder::new().spawn_scoped(scope, || read_piece(piece))?);
        }
        let last = read_piece(own);
        let mut results = Vec::new();
        for worker in workers {
            results.push(
                worker
                    .join()
                    .map_err(|_| io::Error::other("a thread stopped"))?,
            );
        }
        results.push(last);
        Ok(results)
    })
}

/// Pieces of about equal size, each of whole lines.
fn split(block: &[u8], count: usize) -> Vec<&[u8]> {
    let mut rest = block;
    let mut pieces = Vec::new();
    for _ in 1..count {
        let tail = rest.get(block.len() / count..).unwrap_or_default();
        let newline = stretches::newline(tail);
        let end = newline.map(|at| rest.len() - tail.len() + at + 1);
        let Some((piece, after)) = end.and_then(|end| rest.split_at_checked(end)) else {
            break;
        };
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

fn read_piece(piece: &[u8]) -> Vec<BlockLine> {
    let mut read = Vec::new();
    for line in stretches::lines(piece) {
        match (entries::read(line), read.last_mut()) {
            (Ok(entry), _) => read.push(BlockLine::Entry(entry)),
            (Err(_), Some(BlockLine::Malformed { lines, .. })) => *lines += 1,
            (Err(reason), _) => read.push(BlockLine::Malformed { reason, lines: 1 }),
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_never_grows_past_one_block() {
        let long = vec![b'x'; 3 * BLOCK_BYTES];
        let lines = [
            b"ab\n".repeat(BLOCK_BYTES / 2),
            long.clone(),
            b"\ncd\n".to_vec(),
            long,
        ]
        .concat();
        let mut blocks = Blocks::new(lines.as_slice());
        let mut kept = Vec::new();
        while let Some(block) = blocks.next_block().unwrap() {
            assert!(block.len() <= BLOCK_BYTES);
            kept.extend(
                block
                    .split(|b| *b == b'\n')
                    .filter(|l| !l.is_empty())
                    .map(<[u8]>::len),
            );
            assert!(blocks.buffer.capacity() < 2 * BLOCK_BYTES);
        }
        let (pairs, longs): (Vec<_>, Vec<_>) = kept.into_iter().partition(|len| *len == 2);
        assert_eq!(pairs.len(), BLOCK_BYTES / 2 + 1);
        assert!(longs.len() == 2 && longs.iter().all(|len| *len > LINE_BYTES_MAX));
    }

    #[test]
    fn a_line_as_long_as_a_block_is_not_mistaken_for_a_shorter_one() {
        let line = [vec![b'x'; BLOCK_BYTES], b"\n".to_vec()].concat();
        let mut blocks = Blocks::new(line.as_slice());
        assert!(blocks.next_block().unwrap().unwrap().len() > LINE_BYTES_MAX + 1);
        assert!(blocks.next_block().unwrap().is_none());
    }

    #[test]
    fn pieces_are_whole_lines_and_nothing_is_lost() {
        for count in 1..9 {
            for block in [
                &b"a\nbb\n\nccc\nd\n"[..],
                b"no newline",
                b"\n",
                b"a\nrest",
                b"",
            ] {
                let pieces = split(block, count);
                assert_eq!(pieces.concat(), block);
                let (_, whole) = pieces.split_last().unwrap();
                assert!(whole.iter().all(|piece| piece.ends_with(b"\n")) && pieces.len() <= count);
            }
        }
    }
}
