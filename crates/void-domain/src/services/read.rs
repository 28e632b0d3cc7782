//! From the text of `config/services.json` to [`Services`], or to everything that is wrong with it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::{
    Check, HttpCheck, INTERVAL_DEFAULT, Location, SERVICES_MAX, Service, ServiceId, Services,
    TIMEOUT_DEFAULT,
};
use crate::canonical;
use crate::digests::Digest;
use crate::hosts::{HostName, is_address};
use crate::limits;
use crate::text;
use crate::written::{self, ObjectFields, Problem, Problems, SourceContent, SourceNode};

pub(super) fn services(text: &str) -> Result<Services, Vec<Problem>> {
    let mut problems = Problems::default();
    if text.len() > limits::CATALOGUE_BYTES_MAX {
        problems.error(
            1,
            "",
            format!(
                "the file is larger than {} bytes",
                limits::CATALOGUE_BYTES_MAX
            ),
        );
        return Err(problems.finish().err().unwrap_or_default());
    }
    let root = match written::read(text) {
        Ok(root) => root,
        Err(error) => {
            problems.error(error.line, "", error.words());
            return Err(problems.finish().err().unwrap_or_default());
        }
    };
    let list = read_root(&root, &mut problems);
    problems.finish()?;
    let mut value = root.to_value();
    if let Value::Object(members) = &mut value {
        members.remove("$schema");
    }
    Ok(Services {
        list,
        digest: canonical::digest_of(&value).ok(),
    })
}

fn read_root(root: &SourceNode, problems: &mut Problems) -> Vec<Service> {
    let mut list = Vec::new();
    let Some(mut fields) = ObjectFields::of(root, "", problems) else {
        return list;
    };
    fields.text("$schema", problems);
    match fields
        .node("services")
        .map(|node| (node.line, &node.content))
    {
        Some((line, SourceContent::List(items))) if items.len() > SERVICES_MAX => {
            problems.error(line, "services", format!("at most {SERVICES_MAX} services"));
        }
        Some((_, SourceContent::List(items))) => {
            let mut ids = BTreeSet::new();
            for (index, item) in items.iter().enumerate() {
                let path = format!("services[{index}]");
                let Some(service) = read_service(item, &path, problems) else {
                    continue;
                };
                if ids.insert(service.id.clone()) {
                    list.push(service);
                } else {
                    problems.error(
                        item.line,
                        &path,
                        format!("the id {} is used twice", service.id),
                    );
                }
            }
        }
        Some((line, _)) => problems.error(line, "services", "expected a list"),
        None => problems.error(fields.line, "services", "is missing"),
    }
    fields.finish(problems);
    list
}

fn read_service(node: &SourceNode, path: &str, problems: &mut Problems) -> Option<Service> {
    let mut fields = ObjectFields::of(node, path, problems)?;
    let id = fields.required_text("id", problems).and_then(|(line, text)| {
        let id = ServiceId::parse(text);
        if id.is_none() {
            let message = "a service's id is 1 to 64 of a-z, 0-9 and -, and begins with a letter or digit";
            problems.error(line, &fields.path_of("id"), message);
        }
        id
    });
    let label = fields.text("label", problems).map(|(line, label)| {
        let plain = !label.trim().is_empty()
            && label.chars().count() <= limits::LABEL_CHARS_MAX
            && !label
                .chars()
                .any(|c| c.is_control() || text::is_deceptive(c));
        if !plain {
            let message = format!(
                "a label is 1 to {} printable characters",
                limits::LABEL_CHARS_MAX
            );
            problems.error(line, &fields.path_of("label"), message);
        }
        label.to_owned()
    });
    let place = read_place(&mut fields, problems);
    let check = match fields.node("check") {
        Some(node) => read_check(node, &fields.path_of("check"), place.as_ref(), problems),
        None => {
            problems.error(fields.line, &fields.path_of("check"), "is missing");
            None
        }
    };
    let interval = seconds(&mut fields, "interval_s", 1..=86_400, problems);
    let timeout = seconds(&mut fields, "timeout_s", 1..=60, problems);
    let urgent = fields.truth("urgent", problems);
    fields.finish(problems);
    let id = id?;
    Some(Service {
        label: label.unwrap_or_else(|| id.to_string()),
        id,
        place,
        check: check?,
        interval: interval.unwrap_or(INTERVAL_DEFAULT),
        timeout: timeout.unwrap_or(TIMEOUT_DEFAULT),
        urgent: urgent.unwrap_or(false),
    })
}

/// `host`, or `node` with `vmid`, or neither.
fn read_place(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<Location> {
    let host = fields.text("host", problems);
    let node = fields.text("node", problems);
    let written = fields.node("vmid").is_some();
    let vmid = fields
        .integer("vmid", 100..=999_999_999, problems)
        .and_then(|vmid| u32::try_from(vmid).ok());
    match (host, node, written) {
        (None, None, false) => None,
        (Some((line, host)), None, false) => {
            if HostName::parse(host).is_none() {
                problems.error(line, &fields.path_of("host"), "not a host's name");
            }
            Some(Location::Host(host.to_owned()))
        }
        (None, Some((line, node)), true) => {
            if !is_node(node) {
                let message = "a node's name is 1 to 63 of letters, digits and -";
                problems.error(line, &fields.path_of("node"), message);
            }
            Some(Location::Guest {
                node: node.to_owned(),
                vmid: vmid?,
            })
        }
        _ => {
            problems.error(
                fields.line,
                &fields.path,
                "give either host, or node with vmid, or neither",
            );
            None
        }
    }
}

/// As in the catalogue.
fn is_node(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && !name.starts_with('-')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[derive(Clone, Copy)]
enum CheckWord {
    Http,
    Tcp,
    Guest,
}

fn read_check(
    node: &SourceNode,
    path: &str,
    place: Option<&Location>,
    problems: &mut Problems,
) -> Option<Check> {
    let mut fields = ObjectFields::of(node, path, problems)?;
    if fields.node("kind").is_none() {
        problems.error(
            fields.line,
            &fields.path_of("kind"),
            "is missing: http, tcp or guest",
        );
    }
    let known = [
        ("http", CheckWord::Http),
        ("tcp", CheckWord::Tcp),
        ("guest", CheckWord::Guest),
    ];
    let check = match fields.word("kind", &known, problems)? {
        CheckWord::Http => read_http(&mut fields, problems),
        CheckWord::Tcp => read_tcp(&mut fields, problems),
        CheckWord::Guest if matches!(place, Some(Location::Guest { .. })) => Some(Check::Guest),
        CheckWord::Guest => {
            problems.error(
                fields.line,
                path,
                "a guest check needs node and vmid beside it",
            );
            None
        }
    };
    fields.finish(problems);
    check
}

fn read_tcp(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<Check> {
    let (line, address) = fields.required_text("address", problems)?;
    let Some((host, port)) = split_port(address) else {
        problems.error(
            line,
            &fields.path_of("address"),
            "expected host:port, such as 192.168.1.20:445",
        );
        return None;
    };
    Some(Check::Tcp { host, port })
}

fn read_http(fields: &mut ObjectFields<'_>, problems: &mut Problems) -> Option<Check> {
    let status = fields
        .integer("status", 100..=599, problems)
        .and_then(|status| u16::try_from(status).ok());
    let certificate = fields
        .text("certificate", problems)
        .and_then(|(line, text)| {
            let parsed = Digest::parse_fingerprint(text);
            if parsed.is_none() {
                let message = "expected the SHA-256 of the certificate, 64 hexadecimal characters";
                problems.error(line, &fields.path_of("certificate"), message);
            }
            parsed
        });
    let (line, url) = fields.required_text("url", problems)?;
    let Some(mut check) = parse_url(url) else {
        let message =
            "expected http://host[:port][/path] or https://…, without user, spaces or fragment";
        problems.error(line, &fields.path_of("url"), message);
        return None;
    };
    if certificate.is_some() && !check.secure {
        let message = "a certificate is shown over https only";
        problems.error(line, &fields.path_of("certificate"), message);
    }
    check.status = status;
    check.certificate = certificate;
    Some(Check::Http(check))
}

fn parse_url(url: &str) -> Option<HttpCheck> {
    let (secure, rest) = match url.split_once("://")? {
        ("http", rest) => (false, rest),
        ("https", rest) => (true, rest),
        _ => return None,
    };
    let (authority, path) = match rest.find('/') {
        Some(at) => (rest.get(..at)?, rest.get(at..)?),
        None => (rest, "/"),
    };
    let plain = url.len() <= 2_048 && path.bytes().all(|b| b.is_ascii_graphic() && b != b'#');
    if !plain {
        return None;
    }
    let (host, port) = match split_port(authority) {
        Some(split) => split,
        None => (parse_host(authority)?, if secure { 443 } else { 80 }),
    };
    Some(HttpCheck {
        secure,
        host,
        port,
        path: path.to_owned(),
        status: None,
        certificate: None,
    })
}

/// `host:port` or `[address]:port`.
fn split_port(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let port = port
        .parse::<u16>()
        .ok()
        .filter(|port| digits && *port > 0)?;
    Some((parse_host(host)?, port))
}

/// A name or an address, the latter in brackets if it holds colons.
fn parse_host(text: &str) -> Option<String> {
    let bare = match text.strip_prefix('[') {
        Some(rest) => rest
            .strip_suffix(']')
            .filter(|address| address.contains(':'))?,
        None if text.contains(':') => return None,
        None => text,
    };
    is_address(bare).then(|| bare.to_owned())
}

fn seconds(
    fields: &mut ObjectFields<'_>,
    name: &'static str,
    range: std::ops::RangeInclusive<i64>,
    problems: &mut Problems,
) -> Option<Duration> {
    let seconds = fields.integer(name, range, problems)?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}
