//! Bodies of requests against what the OpenAPI document says of them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::alerts::on;
use crate::apps::Setup;
use crate::stands::{Stand, services};

/// Bodies of which either member, but not both, may be there: the document and the server agree on each.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_fits_the_document_exactly_if_its_shape_is_taken() {
    let stand = Stand::down();
    let app = Setup {
        services: services(&[on("ct100", stand.service("web"))]),
        ..Setup::default()
    }
    .start()
    .await;
    let owner = app.owner();
    let document = void_server::document();
    let validator = |path: &str| {
        let mut schema =
            document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
                .clone();
        schema["components"] = document["components"].clone();
        jsonschema::validator_for(&schema).unwrap()
    };
    let tomorrow = app.control.clock().now().plus(Duration::from_secs(86_400));
    let members: &[(&str, [Value; 2])] = &[
        ("service", [json!("web"), Value::Null]),
        ("host", [json!("ct100"), Value::Null]),
        ("for_s", [json!(60), Value::Null]),
        ("until", [json!(tomorrow.to_string()), Value::Null]),
        ("reason", [json!("a new disk"), json!("  \t")]),
    ];
    let choices: &[(&str, [Value; 2])] = &[
        ("kind", [json!("token"), json!("word")]),
        ("id", [json!("nobody"), json!("x".repeat(129))]),
    ];
    let tokens: &[(&str, [Value; 2])] = &[
        ("kind", [json!("agent"), json!("viewer")]),
        ("name", [json!("little-helper"), json!("A B")]),
        ("capabilities", [json!(["read"]), json!({"read": false})]),
        ("restore", [json!(true), json!(false)]),
    ];
    let of = [
        ("/api/tokens", tokens),
        ("/api/mutes", members),
        ("/api/quarantine/confirm", choices),
        ("/api/quarantine/remove", choices),
    ];
    for (path, members) in of {
        let validator = validator(path);
        let (mut fitting, mut refused) = (0, 0);
        for number in 0..3_usize.pow(u32::try_from(members.len()).unwrap()) {
            let mut body = json!({});
            for (position, (name, values)) in members.iter().enumerate() {
                let choice = number / 3_usize.pow(u32::try_from(position).unwrap()) % 3;
                if choice > 0 {
                    body[*name] = values[choice - 1].clone();
                }
            }
            let answer = owner.post(path, body.clone()).await;
            let is_taken = answer.status != 422;
            assert_eq!(validator.is_valid(&body), is_taken, "{path} {body}");
            fitting += usize::from(is_taken);
            refused += usize::from(!is_taken);
        }
        assert!(fitting > 0 && refused > 0, "{path}: {fitting} {refused}");
    }
}
