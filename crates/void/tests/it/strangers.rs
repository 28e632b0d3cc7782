//! Strangers who take all the connections there are.

use std::net::TcpStream;

use void_testkit::eventually_blocking;

use crate::lab::{Lab, call};

/// Most systems let a program have 1,024 open files unless it asks for more.
#[test]
fn silent_connections_do_not_use_up_the_open_files() {
    const FILES: u32 = 200;
    let lab = Lab::new();
    let _serving = lab.serve_with_few_files(FILES);
    eventually_blocking("the server to answer", || {
        let ready = call(lab.address, "GET", "/readyz", "", None);
        ready.filter(|(status, _)| *status == 200)
    });
    let silent: Vec<TcpStream> = (0..FILES * 2)
        .map(|_| TcpStream::connect(lab.address).unwrap())
        .collect();
    assert_eq!(lab.json(&["status"], 0)["frozen"], false);
    // What opens files of its own goes on as well.
    lab.json(&["run", "safe-one", "--reason", "a crowd"], 9);
    drop(silent);
}
