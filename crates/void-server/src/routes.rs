//! The table of all routes: the rows that stand beside their handlers, one after the other. The router,
//! the OpenAPI document and the authorisation test are made from it; a handler that is in no row is not
//! reachable.

mod actions;
mod agents;
mod audit;
mod backups;
mod bridge;
mod cards;
mod changes;
mod conversations;
mod doctor;
mod events;
mod freeze;
mod gateway;
mod health;
mod home;
mod hosts;
mod inbox;
mod lab;
mod login;
mod mcp;
mod mutes;
mod node;
mod nodes;
mod notifications;
mod passkeys;
mod password;
mod proposals;
mod quarantine;
mod services;
mod session;
mod sessions;
mod setup_links;
mod status;
mod tokens;

use crate::table::{concat, count};

pub(crate) use self::actions::decide;
pub(crate) use self::cards::card;
pub use crate::table::{Content, Parameter, Route, SchemaOf};

pub static ROUTES: &[Route] = &concat::<{ count(TABLES) }>(TABLES);

const TABLES: &[&[Route]] = &[
    actions::ROUTES,
    proposals::ROUTES,
    cards::ROUTES,
    changes::ROUTES,
    inbox::ROUTES,
    home::ROUTES,
    doctor::ROUTES,
    events::ROUTES,
    audit::ROUTES,
    freeze::ROUTES,
    tokens::ROUTES,
    login::ROUTES,
    session::ROUTES,
    sessions::ROUTES,
    passkeys::ROUTES,
    password::ROUTES,
    setup_links::ROUTES,
    hosts::ROUTES,
    nodes::ROUTES,
    quarantine::ROUTES,
    node::ROUTES,
    services::ROUTES,
    lab::ROUTES,
    agents::ROUTES,
    conversations::ROUTES,
    mutes::ROUTES,
    notifications::ROUTES,
    backups::ROUTES,
    bridge::ROUTES,
    status::ROUTES,
    gateway::ROUTES,
    mcp::ROUTES,
    health::ROUTES,
];
