//! Who may call what. Denied unless the route's rule allows it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use void_access::credentials::{self, CredentialError};
use void_access::sessions::{self, Session};
use void_agent::turns::Pass;
use void_control::callers::{self, Caller, Credential};
use void_control::{OWNER_TOKEN_LONG, StoreError, lanes};
use void_domain::actors::Actor;
use void_domain::capabilities::Capability;
use void_domain::digests::Digest;
use void_domain::ids::RequestId;
use void_domain::secrets::Secret;

use crate::app::App;
use crate::budgets::Principal;
use crate::connections::{Peer, Slot};
use crate::errors::ApiError;
use crate::rate_limits::network;
use crate::table::{Access, Route};
use crate::{cookies, fence};

/// What a guarded handler knows of its caller.
#[derive(Clone)]
pub(crate) struct Admitted {
    pub caller: Caller,
    pub ctx: void_control::Ctx,
    /// The turn that the caller works in, if it showed a turn's pass.
    pub pass: Option<Pass>,
}

impl Admitted {
    /// The browser session of the caller, for what is done only in one.
    pub(crate) fn session(&self) -> Result<&Session, ApiError> {
        let session = self.caller.session.as_ref();
        session.ok_or_else(|| CredentialError::SessionNeeded.into())
    }
}

/// Checks the route's rule and hands the caller on with the request, and with the cookie that the
/// caller's browser is to keep longer.
pub(crate) async fn admit(
    app: &App,
    route: &Route,
    mut request: Request,
) -> Result<(Request, Option<HeaderValue>), ApiError> {
    let request_id = callers::new_request_id(app.control())?;
    request.extensions_mut().insert(request_id);
    let peer = request.extensions().get::<Peer>();
    let address = peer.map(|peer| network(peer.remote.ip()));
    let shown = ShownCredential::of(request.headers(), cookies::name(app));
    let pass = match &shown {
        ShownCredential::Bearer { token, .. } => app.talk().pass(token),
        ShownCredential::Nothing if route.access == Access::Turn => {
            key_header(request.headers()).and_then(|key| app.talk().pass(key))
        }
        ShownCredential::Nothing | ShownCredential::Unusable | ShownCredential::Cookie(_) => None,
    };
    let budgets = &app.shared().budgets;
    if let Some(pass) = pass {
        if let Actor::Agent { id, .. } = pass.ctx().actor {
            let account = budgets.account(Principal::Turn(id));
            budgets.request(&account)?;
            if let Some(slot) = request.extensions().get::<Slot>() {
                slot.claim(budgets, &account)?;
            }
            request.extensions_mut().insert(account);
        }
        return Ok((admit_pass(route, request, pass)?, None));
    }
    let cookie = match &shown {
        ShownCredential::Cookie(cookie) => Some(Secret::new(cookie.as_str())),
        ShownCredential::Nothing | ShownCredential::Unusable | ShownCredential::Bearer { .. } => {
            None
        }
    };
    // Before the store is asked anything: whoever is known has a budget of their own.
    let digest = shown.digest();
    let known = digest.and_then(|digest| budgets.known(digest));
    match (&known, digest, address) {
        (Some(account), ..) => budgets.request(account)?,
        (None, None, Some(address)) => budgets.stranger(address)?,
        (None, ..) => {}
    }
    let lane = match &known {
        Some(account) => account.lane(),
        None => Some(budgets.strangers_lane()),
    };
    let identified = lanes::run_in(lane, identify(app, shown, address, request_id)).await;
    if !matches!(identified, Ok(Some(_)))
        && let Some(digest) = digest
    {
        budgets.forget(digest);
        address.map_or(Ok(()), |address| budgets.stranger(address))?;
    }
    let caller = identified?;
    if let Some(caller) = &caller
        && caller.authenticated_ago.is_some()
    {
        fence::check_cookie_write(&request)?;
    }
    let Some(mut caller) = caller else {
        return match route.access {
            Access::Public => Ok((request, None)),
            Access::Local if is_local(&request) => Ok((request, None)),
            _ => Err(ApiError::unauthenticated()),
        };
    };
    let account = match (known, digest) {
        (None, Some(digest)) => budgets.remember(digest, &caller),
        _ => budgets.account_of(&caller),
    };
    if let Some(slot) = request.extensions().get::<Slot>() {
        slot.claim(budgets, &account)?;
    }
    request.extensions_mut().insert(Arc::clone(&account));
    let ctx = caller.ctx(request_id);
    if !allows(route.access, &caller) {
        if !fence::is_read(request.method()) {
            let recording = callers::record_refusal(app.control(), &ctx, route.operation);
            lanes::run_in(account.lane(), recording).await?;
        }
        return Err(match route.access {
            Access::Owner | Access::OwnerRecent => ApiError::owner_only(),
            Access::Node => ApiError::forbidden("this is for nodes: void node invite"),
            Access::Suggest => {
                ApiError::forbidden("drafting a change needs the capability suggest")
            }
            Access::Knowledge => ApiError::forbidden(
                "reading what the owner wrote down needs the capability read or suggest",
            ),
            Access::Audit => {
                ApiError::forbidden("reading the record needs the capability audit.read")
            }
            Access::Tools => {
                ApiError::forbidden("tools are for agents: void token new --kind agent")
            }
            Access::Wake => ApiError::forbidden("an agent wakes itself; send it a message instead"),
            _ => ApiError::forbidden("this token may not do that"),
        });
    }
    if route.access == Access::OwnerRecent {
        credentials::judge_fresh(&ctx, caller.session.as_ref())?;
    }
    let kept = match (&mut caller.session, cookie) {
        (Some(session), Some(cookie)) => keep(app, session, &cookie).await,
        _ => None,
    };
    let pass = None;
    request
        .extensions_mut()
        .insert(Admitted { caller, ctx, pass });
    Ok((request, kept))
}

/// Use keeps a session open. If that cannot be noted now, it is noted another time.
async fn keep(app: &App, session: &mut Session, cookie: &Secret) -> Option<HeaderValue> {
    let now = app.control().clock().now();
    app.shared().seen_sessions.note(session.id, now);
    match sessions::note_use(app.owner_access(), session).await {
        Ok(true) => {
            let left = session.expires_at.since(app.control().clock().now());
            cookies::keep(app, cookie, left.as_secs()).ok()
        }
        Ok(false) => None,
        Err(error) => {
            tracing::warn!(%error, "the use of a session could not be noted");
            None
        }
    }
}

/// Looks again at somebody who has opened a stream of tool calls. `None`: they may no more.
pub(crate) async fn admit_tools(app: &App, token: &str) -> Result<Option<Admitted>, StoreError> {
    if let Some(pass) = app.talk().pass(token) {
        return Ok(of_pass(pass).ok());
    }
    let caller = callers::by_bearer(app.control(), token, false).await?;
    let Some(caller) = caller.filter(|caller| allows(Access::Tools, caller)) else {
        return Ok(None);
    };
    let ctx = caller.ctx(callers::new_request_id(app.control())?);
    let pass = None;
    Ok(Some(Admitted { caller, ctx, pass }))
}

/// A turn's pass opens what a turn needs and nothing else, whatever its agent may.
fn admit_pass(route: &Route, mut request: Request, pass: Pass) -> Result<Request, ApiError> {
    if !matches!(route.access, Access::Public | Access::Tools | Access::Turn) {
        return Err(ApiError::forbidden("a turn's pass does not open this"));
    }
    request.extensions_mut().insert(of_pass(pass)?);
    Ok(request)
}

fn of_pass(pass: Pass) -> Result<Admitted, ApiError> {
    let ctx = pass.ctx().clone();
    let Actor::Agent { id, .. } = ctx.actor else {
        return Err(ApiError::forbidden("a turn is an agent's"));
    };
    let caller = Caller {
        actor: ctx.actor.clone(),
        capabilities: ctx.capabilities.clone(),
        authenticated_ago: None,
        credential: Credential::Turn(id),
        session: None,
    };
    Ok(Admitted {
        caller,
        ctx,
        pass: Some(pass),
    })
}

/// The one bearer token that a request shows.
pub(crate) fn bearer_of(headers: &HeaderMap) -> Option<&str> {
    let mut authorizations = headers.get_all(header::AUTHORIZATION).iter();
    let value = authorizations.next()?;
    let token = value.to_str().ok().and_then(bearer);
    token.filter(|_| authorizations.next().is_none())
}

pub(crate) fn allows(access: Access, caller: &Caller) -> bool {
    // What a process reads itself is in no turn, so nothing would remember it: it reads nothing but about itself, and all it
    // can say is that it wants to be woken.
    if let Credential::Process(_) = caller.credential {
        return matches!(
            access,
            Access::Public | Access::Process | Access::OwnProcess | Access::Wake
        );
    }
    let has = |capability| caller.capabilities.has(capability);
    match (&caller.actor, access) {
        (_, Access::Public) => true,
        // A model that holds the owner's token would be the owner.
        (_, Access::Turn | Access::OwnProcess)
        | (Actor::Owner { .. }, Access::Tools | Access::Node | Access::Wake) => false,
        (Actor::Owner { .. }, _) => true,
        (Actor::Viewer { .. }, Access::Local | Access::Read) => true,
        (Actor::Agent { .. }, Access::Local | Access::Read | Access::Tools) => {
            has(Capability::Read) || has(Capability::Act) || has(Capability::Suggest)
        }
        (Actor::Agent { .. }, Access::Knowledge) => {
            has(Capability::Read) || has(Capability::Suggest)
        }
        (Actor::Agent { .. }, Access::Act) => has(Capability::Act),
        (Actor::Agent { .. }, Access::Suggest) => has(Capability::Suggest),
        (Actor::Agent { .. }, Access::Withdraw) => has(Capability::Act) || has(Capability::Suggest),
        (Actor::Agent { .. }, Access::Audit) => has(Capability::AuditRead),
        // Whatever it may: what it says is one word, to itself.
        (Actor::Agent { .. }, Access::Wake) => true,
        (Actor::Node { .. }, Access::Node) => true,
        (
            Actor::Viewer { .. },
            Access::Knowledge
            | Access::Act
            | Access::Suggest
            | Access::Withdraw
            | Access::Audit
            | Access::Owner
            | Access::OwnerRecent
            | Access::Tools
            | Access::Node
            | Access::Process
            | Access::Wake,
        )
        | (
            Actor::Agent { .. },
            Access::Owner | Access::OwnerRecent | Access::Node | Access::Process,
        )
        | (Actor::Node { .. } | Actor::System, _) => false,
    }
}

/// The credential that a request carries. A bearer token wins over a cookie.
enum ShownCredential {
    Nothing,
    /// More than one, or one that is none of ours.
    Unusable,
    Bearer {
        token: String,
        from_cli: bool,
    },
    Cookie(String),
}

impl ShownCredential {
    fn of(headers: &HeaderMap, cookie_name: &str) -> Self {
        if headers.contains_key(header::AUTHORIZATION) {
            let token = bearer_of(headers);
            let from_cli = headers
                .get("x-void-surface")
                .is_some_and(|surface| surface == "cli");
            return token.map_or(Self::Unusable, |token| Self::Bearer {
                token: token.to_owned(),
                from_cli,
            });
        }
        cookies::find(headers, cookie_name)
            .map_or(Self::Nothing, |cookie| Self::Cookie(cookie.to_owned()))
    }
}

impl ShownCredential {
    /// Names the credential without holding it.
    fn digest(&self) -> Option<Digest> {
        match self {
            Self::Nothing | Self::Unusable => None,
            Self::Bearer { token: shown, .. } | Self::Cookie(shown) => {
                Some(Digest::of(shown.as_bytes()))
            }
        }
    }
}

/// Programs that were written for a provider show a turn's pass as their key. Nothing but a pass is
/// taken from that header, and only where nothing else is of use.
fn key_header(headers: &HeaderMap) -> Option<&str> {
    let mut keys = headers.get_all("x-api-key").iter();
    let key = keys.next()?.to_str().ok()?;
    keys.next().is_none().then_some(key)
}

/// A bearer token that is not valid is an error, never a fall-back to something else.
async fn identify(
    app: &App,
    shown: ShownCredential,
    address: Option<IpAddr>,
    request_id: RequestId,
) -> Result<Option<Caller>, ApiError> {
    match shown {
        ShownCredential::Nothing => Ok(None),
        ShownCredential::Unusable => Err(ApiError::unauthenticated()),
        ShownCredential::Bearer { token, from_cli } => {
            let control = app.control();
            // A long token is not guessed, and its holder is kept out by nobody: also not by somebody
            // who guesses at a short one from the same address.
            let is_guessable = control.has_short_token() && token.len() < OWNER_TOKEN_LONG;
            let limiter = is_guessable
                .then_some(&app.shared().rate_limits.bearers)
                .zip(address);
            let now = control.clock().now();
            if limiter.is_some_and(|(limiter, address)| limiter.is_on(&address, now)) {
                return Err(ApiError::rate_limited(
                    "too many wrong tokens from there; wait a minute",
                ));
            }
            let caller = callers::by_bearer(control, &token, from_cli).await?;
            if caller.is_none() {
                if let Some((limiter, address)) = limiter {
                    limiter.try_once(address, now);
                }
                let from = address.map(|address| address.to_string());
                sessions::record_bearer(app.owner_access(), request_id, &from.unwrap_or_default())
                    .await?;
            }
            caller.map(Some).ok_or_else(ApiError::unauthenticated)
        }
        ShownCredential::Cookie(cookie) => Ok(callers::by_cookie(app.control(), &cookie).await?),
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// A program on this machine. What a proxy on this machine passes on comes from elsewhere.
fn is_local(request: &Request) -> bool {
    let headers = request.headers();
    let passed_on = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]
        .into_iter()
        .any(|name| headers.contains_key(name));
    let peer = request.extensions().get::<Peer>();
    !passed_on && peer.is_some_and(|peer| is_loopback(peer.remote.ip()))
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}
