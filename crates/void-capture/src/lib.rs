//! Fetches a URL and reads foreign bytes, each inside its limits.
//!
//! Two halves that trust each other little. The first is the server's: `targets` (a URL that may be asked
//! for), `addresses` and `allowances` (where it may lead), `fetches` (one document, hop by hop), `captures`
//! (how many, how long). The second runs in a child process: `children` (what a hidden subcommand runs),
//! `confinement` (what it takes from itself first), `encodings`, `html`, `plain_text`, `karakeep` and
//! `archives` (bytes in, text out). `extractors` starts the child, `reports` is what crosses the pipe.

mod addresses;
mod allowances;
mod archives;
mod captures;
mod children;
mod confinement;
mod documents;
mod encodings;
mod errors;
mod extractors;
mod fetches;
mod html;
mod inert;
mod karakeep;
pub mod limits;
mod plain_text;
mod reports;
mod resolvers;
mod targets;

pub use addresses::AddressClass;
pub use allowances::{Allowances, InvalidAllowance, InvalidAllowanceWhy};
pub use captures::{Captured, Captures};
pub use children::run_extractor;
pub use confinement::{Isolation, Role, confine};
pub use documents::{DocumentKind, Fetched};
pub use errors::{CODES, CaptureError, Content, FetchError, Refusal};
pub use extractors::{ExtractError, Extractor};
pub use fetches::{FetchPatience, Fetcher, system_tls};
pub use reports::{
    ArchiveFault, Bookmark, Bookmarks, ExportFault, ExtractHints, ExtractKind, Extracted,
    NotConfined, Unreadable,
};
pub use resolvers::{Resolution, Resolve, SystemResolver};
pub use targets::InvalidUrl;
