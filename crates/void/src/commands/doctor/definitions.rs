//! The catalogue and the services file: each by itself, and whether they fit each other.

use void_domain::catalogue::Catalogue;
use void_domain::services::Services;
use void_domain::text;

use super::findings::Findings;
use crate::commands::{Session, counted, quoted};
use crate::{catalogue, services};

/// What the files say; `None` for one that is refused.
pub(super) struct Definitions {
    pub catalogue: Option<Catalogue>,
    pub services: Option<Services>,
}

pub(super) fn check(session: &Session<'_>, findings: &mut Findings) -> Definitions {
    let definitions = Definitions {
        catalogue: check_catalogue(session, findings),
        services: check_services(session, findings),
    };
    if let (Some(catalogue), Some(services)) = (&definitions.catalogue, &definitions.services) {
        check_against_each_other(session, catalogue, services, findings);
    }
    definitions
}

fn check_catalogue(session: &Session<'_>, findings: &mut Findings) -> Option<Catalogue> {
    let path = session.settings.actions.value.display();
    let lint = format!("void actions lint {}", quoted(&path.to_string()));
    if let Some(unmoved) = catalogue::unmoved(&session.settings.actions.value) {
        findings.warn("catalogue", unmoved.message, unmoved.next);
    }
    let catalogue = match catalogue::load(&session.settings) {
        Ok(catalogue) => catalogue,
        Err(problem) => {
            findings.wrong("catalogue", problem.message, problem.next.unwrap_or(lint));
            return None;
        }
    };
    let (count, warnings) = (catalogue.actions().len(), catalogue.warnings().len());
    if count == 0 {
        let message = "it is empty: nothing may run";
        findings.warn("catalogue", message, format!("write {path}"));
    } else if warnings > 0 {
        let message = format!(
            "{}, {}",
            counted(count, "action"),
            counted(warnings, "warning")
        );
        findings.warn("catalogue", message, lint);
    } else {
        let digest = catalogue.digest().short();
        findings.fine(
            "catalogue",
            format!("{}, digest {digest}", counted(count, "action")),
        );
    }
    Some(catalogue)
}

fn check_services(session: &Session<'_>, findings: &mut Findings) -> Option<Services> {
    match services::load(&session.settings) {
        Ok(services) => {
            if services.digest().is_some() {
                let count = services.iter().len();
                let said = match count {
                    1 => "1 is watched".to_owned(),
                    several => format!("{several} are watched"),
                };
                findings.fine("services", said);
            }
            Some(services)
        }
        Err(problem) => {
            let path = session.settings.services.value.display();
            let next = format!("correct {path}, then void config check");
            findings.wrong("services", problem.message, next);
            None
        }
    }
}

/// An action whose check nobody makes runs, and nobody ever says that it worked.
fn check_against_each_other(
    session: &Session<'_>,
    catalogue: &Catalogue,
    services: &Services,
    findings: &mut Findings,
) {
    let path = session.settings.services.value.display();
    for action in catalogue.actions() {
        let Some(id) = action.execution.verify.as_deref() else {
            continue;
        };
        if services.get(id).is_some() {
            continue;
        }
        let message = format!(
            "{}: its check is the service {id}, which nobody watches; it will stay unconfirmed",
            action.id
        );
        let known = services.iter().map(|service| service.id.as_str());
        let next = match text::nearest(id, known) {
            Some(near) => {
                format!("did you mean {near}? correct the catalogue, or add {id} to {path}")
            }
            None => format!("add {id} to {path}, then start the server again"),
        };
        findings.wrong("services", message, next);
    }
}
