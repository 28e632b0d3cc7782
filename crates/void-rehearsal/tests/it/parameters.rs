//! Parameters: wrong, unknown, doubled, and in which order requests are judged.

use serde_json::{Value, json};
use void_rehearsal::proxmox::BODY_BYTES_MAX;

use crate::client::Client;
use crate::lab::{self, ACTIONS, NOBODY};

const UNKNOWN: &str =
    "property is not defined in schema and the schema does not allow additional properties";

fn errors(client: &Client, method: &str, path: &str, form: &str) -> Value {
    let answer = client.send(method, path, form).unwrap();
    assert_eq!(
        answer.line(),
        "400 Parameter verification failed.",
        "{path} {form}"
    );
    let body = answer.json();
    assert_eq!(body["data"], Value::Null);
    assert_eq!(body["message"], "Parameter verification failed.\n");
    body["errors"].clone()
}

#[test]
fn each_wrong_parameter_of_a_form_is_named() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let only_root = "Only root may use this option.";
    for (path, form, expected) in [
        ("lxc/107/status/stop", "force=1", json!({"force": UNKNOWN})),
        (
            "lxc/107/status/stop",
            "timeout=5",
            json!({"timeout": UNKNOWN}),
        ),
        (
            "lxc/107/status/stop",
            "skiplock=1",
            json!({"skiplock": only_root}),
        ),
        (
            "qemu/104/status/reboot",
            "forceStop=1",
            json!({"forceStop": UNKNOWN}),
        ),
        (
            "qemu/104/status/stop",
            "keepActive=1",
            json!({"keepActive": only_root}),
        ),
        (
            "lxc/107/status/shutdown",
            "timeout=soon&forceStop=yes",
            json!({
                "timeout": "type check ('integer') failed - got 'soon'",
                "forceStop": "type check ('boolean') failed - got 'yes'",
            }),
        ),
        (
            "lxc/107/status/shutdown",
            "timeout=-1",
            json!({"timeout": "value must have a minimum value of 0"}),
        ),
        (
            "lxc/107/status/shutdown",
            "timeout=1&timeout=2",
            json!({"timeout": "type check ('integer') failed - got ARRAY"}),
        ),
    ] {
        let path = format!("/nodes/z/{path}");
        assert_eq!(
            errors(&client, "POST", &path, form),
            expected,
            "{path} {form}"
        );
    }
    assert_eq!(server.running_tasks(), 0);
}

#[test]
fn each_wrong_parameter_of_a_query_is_named() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    for (path, expected) in [
        ("/version?x=1", json!({"x": UNKNOWN})),
        (
            "/cluster/resources?type=guest",
            json!({"type": "value 'guest' does not have a value in the enumeration 'vm, storage, node, sdn'"}),
        ),
        (
            "/nodes/z/tasks?limit=many",
            json!({"limit": "type check ('integer') failed - got 'many'"}),
        ),
        (
            "/nodes/z/lxc/107/status/current?vmid=108",
            json!({"vmid": "duplicate parameter (already defined in URI) with conflicting values!"}),
        ),
    ] {
        assert_eq!(errors(&client, "GET", path, ""), expected, "{path}");
    }
}

#[test]
fn what_looks_odd_but_is_right() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    for path in [
        "/nodes//z/lxc/",
        "/nodes/z/lxc/107/status/current?vmid=107",
        "/version?_dc=1699",
        "/cluster/resources?type=v%6D",
        "/nodes/z/tasks?limit=%2B5",
    ] {
        assert_eq!(client.get(path).status, 200, "{path}");
    }
    let json = "{\"timeout\": 3, \"forceStop\": true}";
    let length = json.len();
    let mut connection = client.connect().unwrap();
    let request = format!(
        "POST /api2/json/nodes/z/lxc/107/status/shutdown HTTP/1.1\r\nHost: x\r\n\
         Authorization: PVEAPIToken={ACTIONS}={}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{json}",
        lab::SECRET
    );
    connection.send_raw(&request).unwrap();
    assert_eq!(connection.read_answer().unwrap().status, 200);
}

#[test]
fn a_number_that_is_no_guest_is_named_to_those_who_could_have_rights_on_it() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let wrong = json!({"vmid": "invalid format - value does not look like a valid VM ID\n"});
    for vmid in ["99", "0107", "1000000000"] {
        let path = format!("/nodes/z/lxc/{vmid}/status/current");
        assert_eq!(errors(&client, "GET", &path, ""), wrong);
    }
    let text = errors(&client, "GET", "/nodes/z/lxc/ct/status/current", "");
    assert_eq!(
        text,
        json!({"vmid": "type check ('integer') failed - got 'ct'"})
    );
}

#[test]
fn rights_come_before_the_node_and_the_node_before_the_parameters() {
    let server = lab::server();
    let (nobody, client) = (lab::client(&server, NOBODY), lab::client(&server, ACTIONS));
    for path in [
        "/nodes/w/lxc/301/status/stop?x=1",
        "/nodes/none/lxc/301/status/stop",
    ] {
        let refused = nobody.post(path, "");
        assert_eq!(
            refused.line(),
            "403 Permission check failed (/vms/301, VM.PowerMgmt)"
        );
    }
    let away = client.post("/nodes/w/lxc/301/status/stop?x=1", "");
    assert_eq!(away.line(), "595 No route to host");
    assert_eq!(away.body, b"");
    assert_eq!(
        client.get("/nodes/none/lxc").line(),
        "500 hostname lookup 'none' failed - failed to get address info for: none: Name or service not known"
    );
}

#[test]
fn what_the_http_server_itself_refuses() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let raw = |head: &str, body: &str| {
        let mut connection = client.connect().unwrap();
        let login = format!("Authorization: PVEAPIToken={ACTIONS}={}", lab::SECRET);
        connection
            .send_raw(&format!("{head}\r\nHost: x\r\n{login}\r\n\r\n{body}"))
            .unwrap();
        connection.read_answer().unwrap()
    };
    let post = "POST /api2/json/nodes/z/lxc/107/status/stop HTTP/1.1\r\n";
    for (head, body, line) in [
        (
            "PATCH /api2/json/version HTTP/1.1".to_owned(),
            "",
            "501 method 'PATCH' not available",
        ),
        ("GET /api2/ HTTP/1.1".to_owned(), "", "501 no such uri"),
        (
            "GET /api2/xml/version HTTP/1.1".to_owned(),
            "",
            "501 no formatter for uri /version, xml",
        ),
        (
            "GET /nothing HTTP/1.1".to_owned(),
            "",
            "500 no such file '/nothing'",
        ),
        (
            "GET /api2/json/version HTTP/1.1\r\nContent-Length: 3".to_owned(),
            "a=1",
            "501 Unexpected content for method 'GET'",
        ),
        (
            format!("{post}Transfer-Encoding: chunked"),
            "0\r\n\r\n",
            "501 chunked transfer encoding not supported",
        ),
        (
            format!("{post}Content-Length: {}", BODY_BYTES_MAX + 1),
            "",
            "501 for data too large",
        ),
        (
            format!("{post}Content-Type: text/xml\r\nContent-Length: 3"),
            "<a>",
            "506 upload 'Content-Type 'text/xml' not implemented",
        ),
    ] {
        assert_eq!(raw(&head, body).line(), line);
    }
    assert_eq!(server.running_tasks(), 0);
}

#[test]
fn a_body_may_be_as_large_as_the_bound() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let form = format!("x={}", "a".repeat(BODY_BYTES_MAX - 2));
    let errors = errors(&client, "POST", "/nodes/z/lxc/107/status/stop", &form);
    assert_eq!(errors, json!({"x": UNKNOWN}));
}
