//! The table of all routes: the rows that stand beside their handlers, one after the other. The router,
//! the OpenAPI document and the authorisation test are made from it; a handler that is in no row is not
//! reachable.

mod actions;
mod agent_configs;
mod agent_processes;
mod agents;
mod attachments;
mod audit;
mod backups;
mod bridge;
mod cards;
mod changes;
mod conversations;
mod doctor;
mod draft_decisions;
mod drafts;
mod entities;
mod events;
mod freeze;
mod gateway;
mod health;
mod home;
mod hosts;
mod imports;
mod inbox;
mod lab;
mod login;
mod mcp;
mod mutes;
mod node;
mod nodes;
mod notifications;
mod pages;
mod passkeys;
mod password;
mod previews;
mod projects;
mod proposals;
mod quarantine;
mod refs;
mod revisions;
mod runbooks;
mod search;
mod services;
mod session;
mod sessions;
mod setup_links;
mod spaces;
mod status;
mod tasks;
mod tokens;
mod tree;
mod vault_files;

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
    drafts::ROUTES,
    draft_decisions::ROUTES,
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
    search::ROUTES,
    services::ROUTES,
    lab::ROUTES,
    agents::ROUTES,
    tree::ROUTES,
    agent_processes::ROUTES,
    agent_configs::ROUTES,
    conversations::ROUTES,
    spaces::ROUTES,
    projects::ROUTES,
    pages::ROUTES,
    tasks::ROUTES,
    refs::ROUTES,
    entities::ROUTES,
    revisions::ROUTES,
    previews::ROUTES,
    vault_files::ROUTES,
    attachments::ROUTES,
    imports::ROUTES,
    runbooks::ROUTES,
    mutes::ROUTES,
    notifications::ROUTES,
    backups::ROUTES,
    bridge::ROUTES,
    status::ROUTES,
    gateway::ROUTES,
    mcp::ROUTES,
    health::ROUTES,
];
