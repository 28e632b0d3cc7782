//! Vectors for search: of texts by a model in process or by an endpoint, in memory as small codes, and
//! merged with other lists by rank. Knows nothing of Void: no database, no settings, no Space but its number.

pub mod chunks;
pub mod corpora;
pub mod embedders;
pub mod endpoints;
pub mod fusion;
pub mod index;
pub mod local;
pub mod speed;
pub mod vectors;
