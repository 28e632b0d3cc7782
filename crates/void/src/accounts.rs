//! The accounts of this machine, as `/etc/passwd` has them. Only names that neither a shell nor sudoers reads
//! otherwise are ever given out.

const FILE: &str = "/etc/passwd";
/// Debian's first account of a person; those below it belong to the system, and 0 is root.
const PEOPLE_FROM: u32 = 1000;

/// The name of the account with a number.
pub(crate) fn name_of(uid: u32) -> Option<String> {
    let number = uid.to_string();
    find(|_, id| id == number)
}

/// The name, if there is such an account.
pub(crate) fn named(name: &str) -> Option<String> {
    find(|known, _| known == name)
}

/// The name of an account that no person has.
pub(crate) fn of_a_service(uid: u32) -> Option<String> {
    (1..PEOPLE_FROM)
        .contains(&uid)
        .then(|| name_of(uid))
        .flatten()
}

fn find(is_it: impl Fn(&str, &str) -> bool) -> Option<String> {
    let text = std::fs::read_to_string(FILE).ok()?;
    let accounts = text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        Some((fields.next()?, fields.nth(1)?))
    });
    let mut found = accounts.filter(|(name, id)| is_it(name, id) && is_plain(name));
    found.next().map(|(name, _)| name.to_owned())
}

fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(plain)
}
