//! The API: one table of routes, and the order in which Proxmox judges a request.
//!
//! Known route, parameters that do not contradict the path, permission, the node it is for, parameters,
//! then the work: so a caller without rights learns nothing of a node or a guest, and a request for a
//! node that is away fails before its parameters are looked at. Read from `rest_handler` in
//! `PVE/HTTPServer.pm`, pve-manager 8.4.

mod access;
mod cluster;
mod guests;
mod nodes;
mod table;
mod tasks;

use std::sync::Arc;

use crate::proxmox::access::Identity;
use crate::proxmox::answers::{ApiResponse, Refusal};
use crate::proxmox::cluster::Simulation;
use crate::proxmox::config::Reach;
use crate::proxmox::faults::Fault;
use crate::proxmox::params::{Param, Params};

pub(crate) struct Route {
    method: &'static str,
    /// `{name}` takes any one part and becomes a parameter.
    path: &'static str,
    needs: Needs,
    runs_on: RunsOn,
    params: &'static [Param],
    handle: fn(&Call<'_>) -> Result<ApiResponse, Refusal>,
}

#[derive(Clone, Copy)]
enum Needs {
    /// Everyone with a token; the handler leaves out what they may not see.
    Login,
    /// `privilege` on `path`, in which `{name}` is replaced.
    Privilege(&'static str, &'static str),
    /// A login of another kind; tokens are turned away.
    Ticket,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RunsOn {
    /// The node that was asked.
    Here,
    /// The node in the path.
    Node,
}

/// One request on its way through a route.
pub(crate) struct Call<'a> {
    pub simulation: &'a Arc<Simulation>,
    pub who: &'a Identity,
    pub params: Params,
    pub faults: &'a [Fault],
}

impl Call<'_> {
    /// The node in the path; `localhost` is the one that was asked.
    pub(crate) fn node(&self) -> String {
        match self.params.text("node") {
            Some(name) if name != "localhost" => name.to_owned(),
            Some(_) | None => self.simulation.with(|cluster| cluster.entry().to_owned()),
        }
    }

    /// The guest in the path; the route's schema has checked it.
    pub(crate) fn vmid(&self) -> u32 {
        self.params.number("vmid").unwrap_or_default()
    }

    pub(crate) fn may(&self, path: &str, privilege: &str) -> bool {
        self.simulation
            .with(|cluster| cluster.access.allows(self.who, path, privilege))
    }
}

/// Whether a path is answered without a login.
pub(crate) fn is_open(method: &str, path: &str) -> bool {
    path == "/access/ticket" && method == "POST"
}

/// Answers a request of somebody who did not log in, for a path that is open.
pub(crate) fn handle_stranger(
    method: &str,
    path: &str,
    params: &Params,
) -> Result<ApiResponse, Refusal> {
    let (route, _) = find(method, path).ok_or_else(|| Refusal::not_implemented(method, path))?;
    params.check(route.params)?;
    Err(Refusal::login_failed())
}

pub(crate) fn handle(
    simulation: &Arc<Simulation>,
    who: &Identity,
    (method, path): (&str, &str),
    given: Params,
    faults: &[Fault],
) -> Result<ApiResponse, Refusal> {
    let (route, mut params) =
        find(method, path).ok_or_else(|| Refusal::not_implemented(method, path))?;
    params.merge(given)?;
    let call = Call {
        simulation,
        who,
        params,
        faults,
    };
    check_permission(&call, route, path)?;
    if route.runs_on == RunsOn::Node {
        check_node(&call)?;
    }
    call.params.check(route.params)?;
    (route.handle)(&call)
}

fn check_permission(call: &Call<'_>, route: &Route, path: &str) -> Result<(), Refusal> {
    match route.needs {
        Needs::Login => Ok(()),
        Needs::Ticket => Err(Refusal::permission(&format!(
            "URI '{path}' not available with API token, need proper ticket.\n"
        ))),
        Needs::Privilege(template, privilege) => {
            let mut path = template.to_owned();
            for name in ["node", "vmid"] {
                let value = call.params.text(name).unwrap_or_default();
                path = path.replace(&format!("{{{name}}}"), value);
            }
            if call.may(&path, privilege) {
                return Ok(());
            }
            Err(Refusal::permission(&format!("{path}, {privilege}")))
        }
    }
}

/// Where Proxmox would now hand the request on to another node.
fn check_node(call: &Call<'_>) -> Result<(), Refusal> {
    let name = call.node();
    let reach = call
        .simulation
        .with(|cluster| cluster.node(&name).map(|node| node.reach));
    match reach {
        Some(Reach::Online) => Ok(()),
        Some(Reach::NoApi) => Err(Refusal::proxy(595, "Connection refused")),
        Some(Reach::Offline) => Err(Refusal::proxy(595, "No route to host")),
        None => Err(Refusal::died(&format!(
            "hostname lookup '{name}' failed - failed to get address info for: {name}: Name or service not known"
        ))),
    }
}

fn find(method: &str, path: &str) -> Option<(&'static Route, Params)> {
    let candidates = table::ROUTES.iter().filter(|route| route.method == method);
    candidates
        .filter_map(|route| Some((route, matched(route.path, path)?)))
        .next()
}

fn matched(template: &str, path: &str) -> Option<Params> {
    let is_part = |part: &&str| !part.is_empty();
    let mut given = path.split('/').filter(is_part);
    let mut params = Params::default();
    for wanted in template.split('/').filter(is_part) {
        let part = given.next()?;
        match wanted
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
        {
            Some(name) => params.insert(name, part),
            None if wanted == part => {}
            None => return None,
        }
    }
    given.next().is_none().then_some(params)
}
