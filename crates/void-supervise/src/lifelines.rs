//! What the server and an agent process say to each other beside HTTP: one stream of lines over a pair of sockets,
//! which is the process's standard input. Its first line is the token, its second the plan of the sandbox; then each
//! line is a word. When it ends, the other side is gone.

/// The server's word: there is something to do.
pub(crate) const WAKE: &str = "wake";
/// The process's words, once it is confined: it waits; it works.
pub(crate) const ASLEEP: &str = "asleep";
pub(crate) const AWAKE: &str = "awake";
/// No word is longer. A process that says more is in other hands.
pub(crate) const WORD_BYTES_MAX: u64 = 16;
