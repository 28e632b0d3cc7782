//! A story is an async function that gets a control plane which is not started yet. Each is one test, played on
//! SQLite and, if there is such an engine here, on PostgreSQL side by side, and after it the record is checked. A story that is not in its file's
//! list is dead code, which the build refuses.

use std::thread;

use void_testkit::{has_postgres, postgres_database};

use crate::planes::{Engine, Plane};

macro_rules! stories {
    ($($story:ident),+ $(,)?) => {
        mod on_both_engines {
            $(
                #[test]
                fn $story() {
                    crate::stories::play(super::$story);
                }
            )+
        }
    };
}

/// Calls a use case inside the control plane's runtime.
macro_rules! ask {
    ($plane:expr, $who:expr, |$control:ident, $ctx:ident| $body:expr) => {{
        let $ctx = $who.clone();
        $plane.inside(async move |$control, _| $body.await).await
    }};
}

/// Each engine has a thread of its name, so that a panic says which one it was.
pub fn play(story: impl AsyncFn(&mut Plane) + Sync) {
    let story = &story;
    thread::scope(|scope| {
        let play = |name: &str, engine: fn() -> Engine| {
            let thread = thread::Builder::new().name(name.to_owned());
            let work = move || play_on(engine(), story);
            thread.spawn_scoped(scope, work).unwrap();
        };
        play("SQLite", || Engine::Sqlite);
        if has_postgres() {
            play("PostgreSQL", || Engine::Postgres(postgres_database()));
        }
    });
}

fn play_on(engine: Engine, story: &impl AsyncFn(&mut Plane)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut plane = Plane::new(engine);
        story(&mut plane).await;
        plane.end().await;
    });
}
