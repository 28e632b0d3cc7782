//! `[captures]`: where pages of the web may be captured from beside the open Web, and how what reads them is confined.

use void_capture::{Allowances, Isolation};

use super::merge::Values;
use crate::exit::CommandError;

#[derive(Debug, Clone)]
pub(crate) struct CaptureSettings {
    pub allowed: Allowances,
    pub isolation: Isolation,
}

pub(super) fn read(values: &Values) -> Result<CaptureSettings, CommandError> {
    let allowed: Vec<String> = values.list("captures.allowed")?;
    let allowed = Allowances::parse(&allowed)
        .map_err(|error| CommandError::config(format!("captures.allowed: {error}")))?;
    let isolation = values.get::<String>("captures.isolation")?.value;
    let isolation = Isolation::parse(&isolation).ok_or_else(|| {
        let message = "captures.isolation is neither `full` nor `without-landlock`";
        CommandError::config(message)
    })?;
    Ok(CaptureSettings { allowed, isolation })
}
