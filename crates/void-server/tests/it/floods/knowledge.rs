//! The same by reading what the owner wrote: the longest page as a tree, with its text, and searches for words that stand
//! everywhere.

use serde_json::json;
use tokio::task::JoinHandle;
use void_domain::limits::PAGE_BYTES_MAX;

use super::*;

/// As slow to read as a page can be: every line opens what none closes.
fn slow_text(word: &str) -> String {
    let line = format!("> * {word} [a](b *c* _d_ `e` [[{word}]] **f\n");
    line.repeat(PAGE_BYTES_MAX / line.len())
}

/// A space with a page as long as one may be.
async fn long_page(owner: &Owner) -> (String, String) {
    let space = owner.call("POST", "/api/spaces", Some(json!({"title": "Lab"})));
    let (status, space) = space.await;
    assert_eq!(status, 200, "{space}");
    let space = space["id"].as_str().unwrap().to_owned();
    let body = json!({"title": "Long", "body": slow_text("first")});
    let path = format!("/api/spaces/{space}/pages");
    let (status, page) = owner.call("POST", &path, Some(body)).await;
    assert_eq!(status, 200, "{page}");
    let page = page["id"].as_str().unwrap().to_owned();
    (space, page)
}

fn attack(address: SocketAddr, token: &str, space: &str, page: &str) -> Vec<JoinHandle<()>> {
    let lines = [
        format!("GET /api/pages/{page}?blocks=true"),
        format!("GET /api/pages/{page}"),
        format!("GET /api/search?space={space}&q=first"),
    ];
    let requests = lines.map(|line| request(address, token, &line, ""));
    let mut tasks = Vec::new();
    for request in requests {
        for _ in 0..SEARCHES {
            tasks.push(tokio::spawn(hammer(address, request.clone())));
        }
        // Whoever hangs up at once does not begin more of it.
        for _ in 0..FLOODS {
            tasks.push(tokio::spawn(knock(address, request.clone())));
        }
    }
    tasks
}

/// Asks and goes away without an answer.
async fn knock(address: SocketAddr, request: Vec<u8>) {
    loop {
        if let Ok(mut stream) = TcpStream::connect(address).await {
            let _ = stream.write_all(&request).await;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_token_that_reads_the_longest_page_over_and_over_does_not_slow_the_owner() {
    raise_file_limit();
    let server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let untouched = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let [owner, control] = [server.address, untouched.address].map(|address| Owner {
        http: client(),
        address,
    });
    let (space, page) = long_page(&owner).await;
    let body = json!({"kind": "agent", "name": "mallory", "capabilities": ["read"]});
    let (_, made) = owner.call("POST", "/api/tokens", Some(body)).await;
    let token = made["token"].as_str().unwrap().to_owned();
    // What it is held back from later is there for it.
    let url = format!("http://{}/api/pages/{page}?blocks=true", server.address);
    let shown = owner
        .http
        .get(&url)
        .bearer_auth(&token)
        .send()
        .await
        .unwrap();
    assert_eq!(shown.status().as_u16(), 200);
    let quiet = owner.measure().await;
    let memory = server.resident_bytes() as u64;
    let tasks = attack(server.address, &token, &space, &page);
    let (busy, beside) = tokio::join!(owner.measure(), control.measure());
    for (n, what) in ["freeze", "Inbox", "approve"].into_iter().enumerate() {
        let (quiet, busy, beside) = (quiet[n], busy[n], beside[n]);
        let told = format!("{what}: {quiet:?} quiet, {beside:?} beside, {busy:?} under attack");
        println!("{told}");
        let bound = (quiet.max(beside) * TIMES_QUIET_MAX).max(FLOOR);
        assert!(busy <= bound, "{told}");
    }
    let grown = (server.resident_bytes() as u64).saturating_sub(memory);
    assert!(grown <= MEMORY_GROWTH_MAX, "{grown} bytes of memory");
    tasks.iter().for_each(JoinHandle::abort);
    join_all(tasks).await;
    assert!(server.end() && untouched.end());
}
