//! HTTP: thin handlers over the use cases. One table of routes drives the router, the OpenAPI
//! document and the authorisation test; a fence for Host and Origin stands in front of all of it.

mod access;
mod addresses;
mod app;
mod assets;
mod bodies;
mod budgets;
mod connections;
mod cookies;
mod doctor;
mod errors;
mod fence;
mod first_steps;
mod holders;
mod json;
mod links;
mod markdown;
mod mcp;
mod metered;
mod metrics;
mod openapi;
mod pages;
mod parameters;
mod patience;
mod plane;
mod rate_limits;
mod requests;
mod router;
pub mod routes;
mod seen_sessions;
mod streams;
mod table;
mod takeovers;
mod uploads;
mod wire;

pub use addresses::{page_url, page_urls_elsewhere};
pub use app::{App, ServerConfig};
pub use connections::{Bound, serve};
pub use doctor::{Doctor, DoctorScope};
pub use fence::{InvalidNames, check_names};
pub use first_steps::FirstSteps;
pub use openapi::document;
pub use plane::{Plane, PlaneConfig};
pub use router::router;
pub use table::Access;
