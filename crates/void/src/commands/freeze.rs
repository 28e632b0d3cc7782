//! `void freeze` and `void thaw`

use serde_json::{Value, json};
use void_domain::actors::person;
use void_domain::text;

use super::Session;
use super::rows::word;
use crate::cli::FreezeArgs;
use crate::client::Client;
use crate::exit::{Exit, Problem};
use crate::times::Times;

pub(super) async fn freeze(session: &Session<'_>, args: FreezeArgs) -> Result<Exit, Problem> {
    let seconds = args.lasts.as_deref().map(seconds).transpose()?;
    let frozen = session
        .client()?
        .post(
            "/api/freeze",
            json!({"reason": args.reason, "for_s": seconds}),
        )
        .await?;
    if session.output.json {
        session.output.value(frozen);
        return Ok(Exit::Done);
    }
    let until = frozen
        .get("until")
        .and_then(Value::as_str)
        .map(|until| format!(" until {}", session.output.times.clock(until)))
        .unwrap_or_default();
    session.output.line(format!(
        "Frozen{until} by {}. Nothing new starts; risky wishes still queue.",
        person(word(&frozen, "by"))
    ));
    let status = session.client()?.get("/api/status").await?;
    if let running @ 1.. = status.get("running").and_then(Value::as_u64).unwrap_or(0) {
        session.output.line(format!(
            "  running:  {running}, to its end; no freeze stops what has started"
        ));
    }
    session.output.line("  thaw:     void thaw");
    Ok(Exit::Done)
}

pub(super) async fn thaw(session: &Session<'_>) -> Result<Exit, Problem> {
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

/// The freeze that holds now.
pub(super) async fn frozen(client: &Client) -> Result<Option<Value>, Problem> {
    let freeze = client.get("/api/freeze").await?;
    Ok(Some(freeze).filter(|freeze| freeze.get("frozen") == Some(&Value::Bool(true))))
}

/// By whom, why and until when: of `/api/freeze` with no prefix, of `/api/status` with `frozen_`.
pub(super) fn told(times: &Times, freeze: &Value, prefix: &str) -> String {
    let member = |name: &str| {
        let value = freeze.get(format!("{prefix}{name}"));
        value.and_then(Value::as_str)
    };
    let parts = [
        member("by").map(|by| format!("by {}", person(by))),
        member("reason").map(|reason| format!("\"{}\"", text::escaped(reason))),
        member("until").map(|until| format!("until {}", times.clock(until))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `90s`, `30m`, `4h`, `2d`.
pub(super) fn seconds(text: &str) -> Result<u64, Problem> {
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
        _ => Err(Problem::usage(format!(
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
