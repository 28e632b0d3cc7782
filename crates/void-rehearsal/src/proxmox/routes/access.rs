//! `/access/permissions`, and `/access/ticket`, which tokens may not use.

use serde_json::{Map, Value};

use crate::proxmox::access::{Identity, Permissions};
use crate::proxmox::answers::{ApiResponse, Refusal};
use crate::proxmox::routes::Call;

/// `{path: {privilege: propagates}}`. Somebody else's needs `Sys.Audit` on `/access`.
pub(super) fn permissions(call: &Call<'_>) -> Result<ApiResponse, Refusal> {
    let own = call.who.full();
    let wanted = call.params.text("userid").unwrap_or(&own);
    if wanted != own && !call.may("/access", "Sys.Audit") {
        return Err(Refusal::permission("/access, Sys.Audit"));
    }
    let Some((user, token)) = wanted.split_once('!') else {
        // Users do not log in here, so nobody has asked for one yet.
        let problem = "the rehearsal server shows the permissions of tokens only";
        return Err(Refusal::parameter("userid", problem));
    };
    let who = Identity {
        user: user.to_owned(),
        token: token.to_owned(),
    };
    let data = call.simulation.with(|cluster| {
        let one = |path: &str| {
            (
                path.to_owned(),
                shown(&cluster.access.permissions(&who, path)),
            )
        };
        match call.params.text("path") {
            Some(path) => Map::from_iter([one(path)]),
            None => {
                let all = cluster.access.effective(&who);
                all.iter()
                    .map(|(path, rights)| (path.clone(), shown(rights)))
                    .collect()
            }
        }
    });
    Ok(ApiResponse::new(data.into()))
}

/// Reached by tokens only, and those are turned away before.
pub(super) fn ticket(_: &Call<'_>) -> Result<ApiResponse, Refusal> {
    Err(Refusal::login_failed())
}

fn shown(permissions: &Permissions) -> Value {
    let rights = permissions
        .iter()
        .map(|(privilege, propagates)| (privilege.clone(), Value::from(u8::from(*propagates))));
    Value::Object(rights.collect())
}
