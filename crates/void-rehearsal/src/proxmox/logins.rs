//! Reading `Authorization: PVEAPIToken=user@realm!name=secret` and refusing in Proxmox' words.
//!
//! Order and texts as `verify_token` in `PVE/AccessControl.pm`: the user, the token, its expiry, its
//! secret. Nothing but tokens logs in here; a ticket is refused as Proxmox refuses a stale one.

use void_domain::time::Timestamp;

use crate::proxmox::access::{Access, Identity};
use crate::proxmox::config::Release;
use crate::proxmox::params::unescaped;

const SCHEME: &str = "PVEAPIToken";

/// The token id that a header claims, whether or not it is right; for the request log.
pub(crate) fn claimed(header: Option<&str>) -> Option<String> {
    let value = token_value(header?)?;
    Some(value.rsplit_once('=')?.0.to_owned())
}

pub(crate) fn verify(
    access: &Access,
    release: Release,
    header: Option<&str>,
    now: Timestamp,
) -> Result<Identity, String> {
    let Some(value) = header.and_then(token_value) else {
        return Err("No ticket".to_owned());
    };
    check(access, &value, now).map_err(|why| match release {
        Release::V8_1 | Release::V8_4 => why,
        Release::V8_4_17 => "Authentication failed!".to_owned(),
    })
}

fn check(access: &Access, value: &str, now: Timestamp) -> Result<Identity, String> {
    let (id, secret) = value.rsplit_once('=').ok_or("no tokenid specified")?;
    let (user_id, name) = split(id).ok_or_else(|| {
        format!("'{id}' is not a valid token ID - not able to split into user and token parts")
    })?;
    let user = access
        .user(user_id)
        .ok_or_else(|| format!("no such user ('{user_id}')"))?;
    if !user.enabled {
        return Err(format!("user '{user_id}' is disabled"));
    }
    let token = user
        .tokens
        .iter()
        .find(|token| token.name == name)
        .ok_or_else(|| format!("no such token '{name}' for user '{user_id}'"))?;
    if token.expires_at.is_some_and(|expires_at| expires_at < now) {
        return Err(format!("token '{name}' access expired"));
    }
    if token.secret != secret {
        return Err("invalid token value!".to_owned());
    }
    Ok(Identity {
        user: user_id.to_owned(),
        token: name.to_owned(),
    })
}

/// What follows the scheme, which may stand anywhere after a space and ends at a semicolon.
fn token_value(header: &str) -> Option<String> {
    let begin = header.find(SCHEME)?;
    let starts_a_word = header
        .get(..begin)?
        .chars()
        .next_back()
        .is_none_or(char::is_whitespace);
    let rest = header.get(begin + SCHEME.len()..)?;
    let rest = rest.strip_prefix(['=', ' ']).filter(|_| starts_a_word)?;
    Some(unescaped(rest.split(';').next()?)).filter(|value| !value.is_empty())
}

fn split(id: &str) -> Option<(&str, &str)> {
    let (user, name) = id.split_once('!')?;
    let (login, realm) = user.rsplit_once('@')?;
    let is_name = |text: &str| {
        let mut rest = text.chars();
        rest.next().is_some_and(|first| first.is_ascii_alphabetic())
            && rest.all(|one| one.is_ascii_alphanumeric() || "._-".contains(one))
    };
    (!login.is_empty() && is_name(realm) && is_name(name)).then_some((user, name))
}
