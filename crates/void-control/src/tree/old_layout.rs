//! A data folder of the layout before agents stood under `root`: the one at the top was called `manager`, its container
//! `hm1nd`, and its state lay in `manager/state` or `state`. Brought to today's layout once, before the tree is opened.
//!
//! A file says that it was begun and another that it is done. Between them every step looks whether it was taken, so a
//! kill after any of them is taken up at the next start. Nothing is written over: what is there twice stays, and is told.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use void_tree::{ROOT, TOPOLOGY_BYTES_MAX};

/// What the one at the top was called.
const OLD: [&str; 2] = ["manager", "hm1nd"];
/// In the data folder.
const DONE: &str = "layout";
const BEGUN: &str = "layout.begun";

type LayoutStep = fn(&Path) -> io::Result<()>;

/// In this order; each may be taken again.
const STEPS: [LayoutStep; 4] = [rename_folders, move_state, move_applied, rename_in_topology];

/// `true`: the folder was of the old layout, and is of today's now.
pub(super) fn migrate(data: &Path) -> io::Result<bool> {
    if !data.is_dir() || data.join(DONE).exists() {
        return Ok(false);
    }
    let is_begun = data.join(BEGUN).exists();
    if !is_begun && !is_old(data)? {
        write(&data.join(DONE), "today's\n")?;
        return Ok(false);
    }
    if !is_begun {
        write(&data.join(BEGUN), "from the layout of manager\n")?;
    }
    for step in STEPS {
        step(data)?;
    }
    fs::rename(data.join(BEGUN), data.join(DONE))?;
    sync(data)?;
    Ok(true)
}

/// Where `root` is somebody already, another `manager` is an agent like any other.
fn is_old(data: &Path) -> io::Result<bool> {
    match topology(data)? {
        Some(tree) => {
            let is_top = |name: &&str| tree.get(*name) == Some(&Value::Null);
            Ok(!tree.contains_key(ROOT) && OLD.iter().any(is_top))
        }
        None => Ok(!data.join("meta").join("topology.json").exists()
            && is_folder(&data.join("manager").join("state"))),
    }
}

/// `None`: there is no file, or none that is an object; the tree says what is wrong with it.
fn topology(data: &Path) -> io::Result<Option<Map<String, Value>>> {
    let file = data.join("meta").join("topology.json");
    let text = match fs::read_to_string(file) {
        Ok(text) if text.len() <= TOPOLOGY_BYTES_MAX => text,
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(serde_json::from_str(&text).ok())
}

fn rename_folders(data: &Path) -> io::Result<()> {
    let agents = data.join("agents");
    each_old(&agents, &agents.join(ROOT))
}

/// Its state beside everybody's: the one of `manager` before the one of nobody.
fn move_state(data: &Path) -> io::Result<()> {
    let own = data.join("agents").join(ROOT);
    for from in [data.join("manager").join("state"), data.join("state")] {
        if is_folder(&from) {
            make(&own)?;
            move_to(&from, &own.join("state"))?;
        }
    }
    // Only if nothing is left in it.
    match fs::remove_dir(data.join("manager")) {
        Err(error) if is_left(&error) => Ok(()),
        gone => gone,
    }
}

fn is_left(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty
    )
}

fn move_applied(data: &Path) -> io::Result<()> {
    let applied = data.join("applied");
    each_old(&applied, &applied.join(ROOT))
}

fn each_old(folder: &Path, to: &Path) -> io::Result<()> {
    for name in OLD {
        let from = folder.join(name);
        if is_folder(&from) {
            move_to(&from, to)?;
        }
    }
    Ok(())
}

/// Last, because from then on it is the file of today.
fn rename_in_topology(data: &Path) -> io::Result<()> {
    let Some(tree) = topology(data)?.filter(|tree| !tree.contains_key(ROOT)) else {
        return Ok(());
    };
    let is_old = |name: &str| OLD.contains(&name);
    let renamed = tree.into_iter().map(|(name, parent)| {
        let name = if is_old(&name) { ROOT.to_owned() } else { name };
        let parent = match parent.as_str() {
            Some(parent) if is_old(parent) => Value::from(ROOT),
            _ => parent,
        };
        (name, parent)
    });
    let renamed: Map<String, Value> = renamed.collect();
    let text = serde_json::to_string_pretty(&renamed).map_err(io::Error::other)?;
    let meta = data.join("meta");
    let new = meta.join(".topology.json.layout");
    write(&new, &format!("{text}\n"))?;
    fs::rename(new, meta.join("topology.json"))?;
    sync(&meta)
}

/// What is at both places stays at both.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        let (from, to) = (from.display(), to.display());
        let said = format!("{from} and {to} are both there: put one of them aside");
        return Err(io::Error::new(ErrorKind::AlreadyExists, said));
    }
    fs::rename(from, to)?;
    let folders = [from.parent(), to.parent()];
    folders.into_iter().flatten().try_for_each(sync)
}

/// Not a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_dir())
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn write(file: &PathBuf, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let opened = options.write(true).create(true).truncate(true).mode(0o600);
    let mut opened = opened.open(file)?;
    opened.write_all(text.as_bytes())?;
    opened.sync_all()?;
    file.parent().map_or(Ok(()), sync)
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// As the old layout had it.
    const OLD_LAYOUT: [(&str, &str); 7] = [
        (
            "meta/topology.json",
            r#"{"manager": null, "alice": "manager", "bob": "alice"}"#,
        ),
        ("manager/state/notes", "of the manager"),
        ("agents/alice/state/notes", "of alice"),
        ("agents/alice/config/agent.toml", "a"),
        ("agents/bob/state/notes", "of bob"),
        ("applied/hm1nd/agent.toml", "of the manager"),
        ("applied/alice/agent.toml", "of alice"),
    ];
    const NEW_LAYOUT: [(&str, &str); 7] = [
        ("agents/alice/config/agent.toml", "a"),
        ("agents/alice/state/notes", "of alice"),
        ("agents/bob/state/notes", "of bob"),
        ("agents/root/state/notes", "of the manager"),
        ("applied/alice/agent.toml", "of alice"),
        ("applied/root/agent.toml", "of the manager"),
        ("layout", "from the layout of manager\n"),
    ];

    fn plant(files: &[(&str, &str)]) -> tempfile::TempDir {
        let data = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = data.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        data
    }

    /// Every file but the tree, by its path.
    fn files(data: &Path) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![data.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("topology.json") {
                    let name = path.strip_prefix(data).unwrap().display().to_string();
                    found.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
        found
    }

    fn assert_new(data: &Path) {
        let expected = NEW_LAYOUT.map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert_eq!(files(data), expected.into());
        let tree = topology(data).unwrap().unwrap();
        let wanted = serde_json::json!({"root": null, "alice": "root", "bob": "alice"});
        assert_eq!(Value::Object(tree), wanted);
        assert!(!data.join("manager").exists());
    }

    #[test]
    fn the_old_layout_becomes_todays_once() {
        let data = plant(&OLD_LAYOUT);
        assert!(migrate(data.path()).unwrap());
        assert_new(data.path());
        assert!(!migrate(data.path()).unwrap());
        assert_new(data.path());
    }

    /// Killed before the first step, after each, and after the last: the next start ends it.
    #[test]
    fn a_kill_after_any_step_is_taken_up_at_the_next_start() {
        for taken in 0..=STEPS.len() {
            let data = plant(&OLD_LAYOUT);
            write(&data.path().join(BEGUN), "from the layout of manager\n").unwrap();
            for step in &STEPS[..taken] {
                step(data.path()).unwrap();
            }
            assert!(migrate(data.path()).unwrap(), "{taken}");
            assert_new(data.path());
        }
    }

    #[test]
    fn a_manager_of_today_is_an_agent_like_any_other() {
        for tree in [
            r#"{"root": null, "manager": "root"}"#,
            r#"{"root": null}"#,
            "{",
            "[]",
        ] {
            let data = plant(&[
                ("meta/topology.json", tree),
                ("agents/manager/state/notes", "its"),
            ]);
            assert!(!migrate(data.path()).unwrap(), "{tree}");
            assert!(data.path().join("agents/manager/state/notes").exists());
            let kept = fs::read_to_string(data.path().join("meta/topology.json")).unwrap();
            assert_eq!(kept, tree);
        }
        // Also one that comes later.
        let data = plant(&[]);
        assert!(!migrate(data.path()).unwrap());
        fs::create_dir_all(data.path().join("manager/state")).unwrap();
        assert!(!migrate(data.path()).unwrap());
        assert!(data.path().join("manager/state").exists());
    }

    #[test]
    fn what_is_there_twice_is_told_and_stays() {
        let data = plant(&OLD_LAYOUT);
        let twice = data.path().join("agents/root/state");
        fs::create_dir_all(&twice).unwrap();
        let said = migrate(data.path()).unwrap_err();
        assert_eq!(said.kind(), ErrorKind::AlreadyExists);
        assert!(data.path().join("manager/state/notes").exists());
        fs::remove_dir(&twice).unwrap();
        assert!(migrate(data.path()).unwrap());
        assert_new(data.path());
    }
}
