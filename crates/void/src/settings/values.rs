//! The value of a setting: read as its kind says, shown without anything secret.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use void_domain::catalogue::Lockout;
use void_domain::instances::InstanceName;
use void_domain::notifications::Zone;
use void_domain::text;

use super::brains::BrainKind;
use super::rows::Kind;
use super::secrets::Reference;

/// Where Void listens unless it is told otherwise.
const PORT: u16 = 3000;
/// Dollars per million tokens; more is a mistake.
const PRICE_MAX: f64 = 1_000_000.0;

/// What stands in the file, in a variable or behind a flag.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Raw {
    Text(String),
    Path(PathBuf),
    Whole(i64),
    Decimal(f64),
    Bool(bool),
    List(Vec<Self>),
    /// What no setting is: a date, a table, or a number that is too large.
    Other,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Url(String),
    Path(PathBuf),
    Address(SocketAddr),
    InstanceName(InstanceName),
    Bool(bool),
    Number(u64),
    /// Millionths of a dollar.
    Price(u64),
    Secret(Reference),
    Texts(Vec<String>),
    UserIds(Vec<i64>),
    Brain(BrainKind),
    TimeZone(Zone),
}

impl Kind {
    /// What a value has to be, in words.
    pub(super) fn words(self) -> String {
        match self {
            Self::Text | Self::InstanceName | Self::TimeZone => "text".to_owned(),
            Self::Url => "an address such as https://host".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::Program => "a path or a name".to_owned(),
            Self::Address => format!("an address such as 127.0.0.1:{PORT}"),
            Self::Bool => "true or false".to_owned(),
            Self::Number { min, max: u64::MAX } => format!("a whole number, {min} or more"),
            Self::Number { min, max } => format!("a whole number, {min} to {max}"),
            Self::Price => "dollars per million tokens".to_owned(),
            Self::Secret => {
                "a secret: env:NAME, file:PATH, credential:NAME or exec:PROGRAM".to_owned()
            }
            Self::Texts | Self::Guests | Self::Hosts | Self::Protected => {
                "a list of texts".to_owned()
            }
            Self::UserIds => "a list of numbers, such as 12345,67890".to_owned(),
            Self::Brain => BrainKind::ALL.map(BrainKind::as_str).join(", "),
        }
    }

    /// What is wrong comes back as a sentence. It repeats nothing of what may be a secret.
    pub(super) fn parse(self, raw: &Raw, key: &str) -> Result<Value, String> {
        let wrong = || format!("{key} must be {}", self.words());
        let is_not = |text: &str, what: &str| {
            format!(
                "{key}: \"{}\" is {what}",
                text::escaped(text::cut(text, 64))
            )
        };
        match (self, raw) {
            (_, Raw::Text(text)) if text.is_empty() => {
                Err(format!("{key} is empty; leave it out instead"))
            }
            (Self::Secret, Raw::Text(text)) => Reference::parse(text, key).map(Value::Secret),
            (Self::Text, Raw::Text(text)) => Ok(Value::Text(text.clone())),
            (Self::Url, Raw::Text(text)) => Ok(Value::Url(text.clone())),
            (Self::Path | Self::Program, Raw::Text(text)) => Ok(Value::Path(text.into())),
            (Self::Path | Self::Program, Raw::Path(path)) => Ok(Value::Path(path.clone())),
            (Self::Bool, Raw::Bool(value)) => Ok(Value::Bool(*value)),
            (Self::Address, Raw::Text(text)) => listen_address(text)
                .map(Value::Address)
                .ok_or_else(|| is_not(text, &format!("not {}", self.words()))),
            (Self::InstanceName, Raw::Text(text)) => InstanceName::parse(text)
                .map(Value::InstanceName)
                .ok_or_else(|| is_not(text, "not a name of 1 to 64 of a-z, 0-9 and -")),
            (Self::Brain, Raw::Text(text)) => BrainKind::parse(text)
                .map(Value::Brain)
                .ok_or_else(|| is_not(text, &format!("no brain; known are {}", self.words()))),
            (Self::TimeZone, Raw::Text(text)) => Zone::get(text)
                .map(Value::TimeZone)
                .map_err(|_| is_not(text, "no time zone of this machine, such as Europe/Berlin")),
            (Self::Number { min, max }, Raw::Whole(number)) => u64::try_from(*number)
                .ok()
                .filter(|number| (min..=max).contains(number))
                .map(Value::Number)
                .ok_or_else(wrong),
            (Self::Price, raw) => price(raw)
                .map(Value::Price)
                .ok_or_else(|| format!("{key}: a price is 0 or more {}", self.words())),
            (Self::UserIds, raw) => user_ids(raw).map(Value::UserIds).ok_or_else(wrong),
            (Self::Texts | Self::Guests | Self::Hosts | Self::Protected, raw) => {
                let texts = texts(raw).ok_or_else(wrong)?;
                self.check_lockout(&texts)?;
                Ok(Value::Texts(texts))
            }
            (_, _) => Err(wrong()),
        }
    }

    /// Each list of `[self]` by itself; together they are read once all of them are known.
    fn check_lockout(self, texts: &[String]) -> Result<(), String> {
        let read = match self {
            Self::Guests => Lockout::parse(texts, &[], &[]),
            Self::Hosts => Lockout::parse(&[], texts, &[]),
            Self::Protected => Lockout::parse(&[], &[], texts),
            _ => return Ok(()),
        };
        read.map(drop).map_err(|error| error.to_string())
    }
}

fn texts(raw: &Raw) -> Option<Vec<String>> {
    let Raw::List(entries) = raw else {
        return None;
    };
    let text = |entry: &Raw| match entry {
        Raw::Text(text) => Some(text.clone()),
        _ => None,
    };
    entries.iter().map(text).collect()
}

/// A list in the file, or `12345,67890` in a variable. One that was given and names nobody must not become "whoever
/// is paired".
fn user_ids(raw: &Raw) -> Option<Vec<i64>> {
    let ids: Option<Vec<i64>> = match raw {
        Raw::List(entries) => entries
            .iter()
            .map(|entry| match entry {
                Raw::Whole(id) => Some(*id),
                _ => None,
            })
            .collect(),
        Raw::Text(text) => text
            .split([',', ' '])
            .filter(|word| !word.is_empty())
            .map(|word| word.parse().ok())
            .collect(),
        _ => None,
    };
    ids.filter(|ids| !ids.is_empty() && ids.iter().all(|id| *id > 0))
}

/// Millionths of a dollar.
fn price(raw: &Raw) -> Option<u64> {
    let dollars = match raw {
        Raw::Whole(dollars) => *dollars as f64,
        Raw::Decimal(dollars) => *dollars,
        _ => return None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 10^12"
    )]
    let micros = |dollars: f64| (dollars * 1_000_000.0).round() as u64;
    Some(dollars)
        .filter(|dollars| (0.0..=PRICE_MAX).contains(dollars))
        .map(micros)
}

/// An address with a port, or without one for the usual port.
pub(crate) fn listen_address(text: &str) -> Option<SocketAddr> {
    let address = |text: &str| text.parse::<IpAddr>().ok();
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let bare = address(bare.unwrap_or(text)).map(|address| SocketAddr::new(address, PORT));
    text.parse().ok().or(bare)
}

/// As `void config show` prints it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Url(url) => f.write_str(&without_password(url)),
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Address(address) => write!(f, "{address}"),
            Self::InstanceName(name) => write!(f, "{name}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Price(micros) => write!(f, "{}", *micros as f64 / 1_000_000.0),
            Self::Secret(reference) => write!(f, "{reference}"),
            Self::Texts(texts) => f.write_str(&texts.join(" ")),
            Self::UserIds(ids) => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                f.write_str(&ids.join(" "))
            }
            Self::Brain(kind) => f.write_str(kind.as_str()),
            Self::TimeZone(zone) => f.write_str(zone.iana_name().unwrap_or("UTC")),
        }
    }
}

/// `https://user:…@host/path`
fn without_password(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = url.split_at(start);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let parts = authority.rsplit_once('@');
    match parts.and_then(|(user, host)| Some((user.split_once(':')?.0, host))) {
        Some((user, host)) => format!("{scheme}{user}:…@{host}{path}"),
        None => url.to_owned(),
    }
}

/// What a setting can be read as.
pub(super) trait FromValue: Sized {
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! from_value {
    ($($($variant:ident)|+ => $type:ty),+ $(,)?) => {
        $(impl FromValue for $type {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    $(Value::$variant(value))|+ => Some(value.clone()),
                    _ => None,
                }
            }
        })+
    };
}

from_value! {
    Text | Url => String,
    Path => PathBuf,
    Address => SocketAddr,
    InstanceName => InstanceName,
    Bool => bool,
    Number | Price => u64,
    Secret => Reference,
    Texts => Vec<String>,
    UserIds => Vec<i64>,
    Brain => BrainKind,
    TimeZone => Zone,
}
