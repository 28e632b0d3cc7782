//! A story is an async function that gets a control plane which is not started yet. It is played on each
//! engine as a test of its own, `<use case>::sqlite::<story>` and `<use case>::postgres::<story>`, and after it
//! the record is checked. A story that is not in its file's list is dead code, which the build refuses.

use void_testkit::postgres_database;

use crate::planes::{Engine, Plane};

macro_rules! stories {
    ($($story:ident),+ $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $story() {
                    crate::stories::play(crate::planes::Engine::Sqlite, super::$story).await;
                }
            )+
        }
        mod postgres {
            $(
                #[tokio::test]
                async fn $story() {
                    crate::stories::play(crate::stories::postgres().await, super::$story).await;
                }
            )+
        }
    };
}

pub async fn postgres() -> Engine {
    let made = tokio::task::spawn_blocking(postgres_database).await;
    Engine::Postgres(made.unwrap())
}

pub async fn play(engine: Engine, story: impl AsyncFn(&mut Plane)) {
    let mut plane = Plane::new(engine);
    story(&mut plane).await;
    plane.end().await;
}
