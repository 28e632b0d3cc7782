//! `void freeze` and `void thaw`

use serde_json::{Value, json};
use void_api::freeze::{FreezeRequest, FreezeResponse};
use void_api::status::StatusResponse;
use void_domain::actors::person;
use void_domain::text;

use super::Session;
use super::rows::or_dash;
use crate::cli::FreezeArgs;
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};
use crate::times::Times;

pub(super) async fn freeze(session: &Session<'_>, args: FreezeArgs) -> Result<Exit, CommandError> {
    let seconds = args.lasts.as_deref().map(seconds).transpose()?;
    let body = FreezeRequest {
        reason: args.reason,
        for_s: seconds,
    };
    let frozen = session.client()?.post("/api/freeze", &body).await?;
    if session.output.json {
        session.output.value(frozen);
        return Ok(Exit::Done);
    }
    let frozen: FreezeResponse = read(frozen)?;
    let until = (frozen.until.as_deref())
        .map(|until| format!(" until {}", session.output.times.clock(until)))
        .unwrap_or_default();
    session.output.line(format!(
        "Frozen{until} by {}. Nothing new starts; risky requests still queue.",
        person(or_dash(&frozen.by))
    ));
    let status: StatusResponse = session.client()?.get_as("/api/status").await?;
    if let running @ 1.. = status.running {
        session.output.line(format!(
            "  running:  {running}, to its end; no freeze stops what has started"
        ));
    }
    let thaw = session.output.typed("void thaw");
    session.output.line(format!("  thaw:     {thaw}"));
    Ok(Exit::Done)
}

pub(super) async fn thaw(session: &Session<'_>) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let was_frozen = frozen(&client).await?.is_some();
    let mut thawed = client.delete("/api/freeze").await?;
    if session.output.json {
        if let Value::Object(members) = &mut thawed {
            members.insert("was_frozen".to_owned(), json!(was_frozen));
        }
        session.output.value(thawed);
    } else if was_frozen {
        session.output.line("Thawed. Things run again.");
    } else {
        session.output.line("Nothing was frozen.");
    }
    Ok(Exit::Done)
}

/// The freeze that holds now, as it was sent and as it is read.
pub(super) async fn frozen(
    client: &Client,
) -> Result<Option<(Value, FreezeResponse)>, CommandError> {
    let sent = client.get("/api/freeze").await?;
    let freeze: FreezeResponse = read(sent.clone())?;
    Ok(Some((sent, freeze)).filter(|(_, freeze)| freeze.frozen))
}

/// By whom, why and until when.
pub(super) fn told(
    times: &Times,
    by: Option<&str>,
    reason: Option<&str>,
    until: Option<&str>,
) -> String {
    let parts = [
        by.map(|by| format!("by {}", person(by))),
        reason.map(|reason| format!("\"{}\"", text::escaped(reason))),
        until.map(|until| format!("until {}", times.clock(until))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `90s`, `30m`, `4h`, `2d`.
pub(super) fn seconds(text: &str) -> Result<u64, CommandError> {
    let unit = text.chars().last().unwrap_or(' ');
    let factor = match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(60 * 60),
        'd' => Some(24 * 60 * 60),
        _ => None,
    };
    let number = text
        .strip_suffix(unit)
        .and_then(|digits| digits.parse::<u64>().ok());
    match factor
        .zip(number)
        .and_then(|(factor, number)| number.checked_mul(factor))
    {
        Some(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(CommandError::usage(format!(
            "--for {} is not a duration such as 30m or 4h",
            text::escaped(text)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn durations_are_read_with_their_unit() {
        for (text, expected) in [("90s", 90), ("30m", 1_800), ("4h", 14_400), ("2d", 172_800)] {
            assert_eq!(seconds(text).unwrap(), expected);
        }
        for bad in [
            "",
            "4",
            "h",
            "0h",
            "-1h",
            "4 h",
            "99999999999999999999d",
            "4w",
            "h4",
            "4é",
        ] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
