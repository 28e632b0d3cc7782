//! A URL that may be asked for: http or https, a host, nobody's name and password in it.
//!
//! It is parsed once, by the parser that the connection is made from too, so that nobody reads a host into
//! it that is not the one that is judged. What browsers repair silently (line breaks, backslashes) is
//! refused: in front of a person it looks like another address than the one it means.

use url::{Host, Position, Url};

use crate::limits::URL_BYTES_MAX;

/// The longest name that DNS has.
const NAME_BYTES_MAX: usize = 253;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    url: Url,
    host: Host,
    port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    #[error("this is not an address of the web")]
    Malformed,
    #[error("the address is longer than {URL_BYTES_MAX} bytes")]
    TooLong,
    #[error("only http:// and https:// addresses are fetched")]
    Scheme,
    #[error("the address names a user or a password; take them out")]
    Credentials,
    #[error("the name of the host is none that DNS could know")]
    Host,
}

impl Target {
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidUrl> {
        let text = text.trim_matches(' ');
        look_over(text)?;
        let url = Url::parse(text).map_err(|_| InvalidUrl::Malformed)?;
        Self::judge(url)
    }

    /// Where a `Location` of this target leads.
    pub(crate) fn redirected(&self, location: &str) -> Result<Self, InvalidUrl> {
        look_over(location)?;
        let url = self.url.join(location).map_err(|_| InvalidUrl::Malformed)?;
        Self::judge(url)
    }

    fn judge(mut url: Url) -> Result<Self, InvalidUrl> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(InvalidUrl::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidUrl::Credentials);
        }
        if url.as_str().len() > URL_BYTES_MAX {
            return Err(InvalidUrl::TooLong);
        }
        let host = url.host().ok_or(InvalidUrl::Malformed)?.to_owned();
        if let Host::Domain(name) = &host
            && !is_name(name)
        {
            return Err(InvalidUrl::Host);
        }
        let port = url.port_or_known_default().ok_or(InvalidUrl::Scheme)?;
        if port == 0 {
            return Err(InvalidUrl::Malformed);
        }
        url.set_fragment(None);
        Ok(Self { url, host, port })
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Host and port as the header `Host` has them.
    pub(crate) fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    /// Path and query as the request line has them.
    pub(crate) fn path(&self) -> &str {
        &self.url[Position::BeforePath..Position::AfterQuery]
    }
}

/// What is refused before anything is parsed.
fn look_over(text: &str) -> Result<(), InvalidUrl> {
    if text.len() > URL_BYTES_MAX {
        return Err(InvalidUrl::TooLong);
    }
    let is_strange = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if text.contains(is_strange) {
        return Err(InvalidUrl::Malformed);
    }
    let after_scheme = text.split_once("//").map_or("", |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or("");
    let begins_with_authority = text
        .split_once("//")
        .is_some_and(|(before, _)| !before.contains(['/', '?', '#']));
    if begins_with_authority && authority.contains('@') {
        return Err(InvalidUrl::Credentials);
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| !label.is_empty() && label.len() <= 63;
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.split('.').all(is_label)
}
