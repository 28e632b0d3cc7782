//! Named points in the life of a proposal at which a test may end the process.
//!
//! Without the feature `failpoints` the macro is nothing at all, not even a string in the binary.

#[cfg(feature = "failpoints")]
use std::sync::OnceLock;

#[cfg(feature = "failpoints")]
static HANDLER: OnceLock<fn(&str)> = OnceLock::new();

/// What happens at every point; the first call wins.
#[cfg(feature = "failpoints")]
pub fn install(handler: fn(&str)) {
    let _ = HANDLER.set(handler);
}

#[cfg(feature = "failpoints")]
pub fn hit(name: &str) {
    if let Some(handler) = HANDLER.get() {
        handler(name);
    }
}

#[cfg(feature = "failpoints")]
#[macro_export]
macro_rules! fail_point {
    ($name:literal) => {
        $crate::failpoints::hit($name)
    };
}

#[cfg(not(feature = "failpoints"))]
#[macro_export]
macro_rules! fail_point {
    ($name:literal) => {};
}
