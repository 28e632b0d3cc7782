//! `void freeze` and `void thaw`

use serde_json::{Value, json};
use void_domain::text;

use super::Session;
use super::rows::word;
use crate::cli::FreezeArgs;
use crate::exit::{Exit, Problem};

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
        .map(|until| format!(" until {until}"))
        .unwrap_or_default();
    session.output.line(format!(
        "Frozen{until} by {}. Nothing runs; risky wishes still queue.",
        text::escaped(word(&frozen, "by"))
    ));
    session.output.line("  thaw:  void thaw");
    Ok(Exit::Done)
}

pub(super) async fn thaw(session: &Session<'_>) -> Result<Exit, Problem> {
    let thawed = session.client()?.delete("/api/freeze").await?;
    if session.output.json {
        session.output.value(thawed);
    } else {
        session.output.line("Thawed. Things run again.");
    }
    Ok(Exit::Done)
}

/// `90s`, `30m`, `4h`, `2d`.
fn seconds(text: &str) -> Result<u64, Problem> {
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
