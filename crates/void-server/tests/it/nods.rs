//! Every way by which an approval must not come, one test each.
