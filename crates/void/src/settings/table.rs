//! Every setting, once. To add one: a row here, a field where it is read (`settings.rs` or a file beside this one),
//! and `void config docs > docs/settings.md`.

use void_domain::budgets::{TOKEN_REQUESTS_PER_S, TOKEN_ROWS_PER_MINUTE, TOKEN_STREAMS_MAX};
use void_domain::limits;
use void_domain::retention::{DAYS_MAX, Kept};
use void_notify::notifiers::TELEGRAM_API_URL;

use super::brains::BrainKind;
use super::rows::Fallback::{self, Bool, InData, Nothing, Number, OfBrain, Required, Text};
use super::rows::{Kind, Row, Variable};

/// Rows that belong together, under one heading of the page.
pub(super) struct Group {
    pub title: &'static str,
    pub rows: &'static [Row],
}

const fn group(title: &'static str, rows: &'static [Row]) -> Group {
    Group { title, rows }
}

pub(super) const GROUPS: [Group; 9] = [
    group("The server", SERVER),
    group("Machines", MACHINES),
    group("Data and copies", DATA),
    group("Search by meaning", SEARCH),
    group("Limits and retention", LIMITS),
    group("Telling the owner", NOTIFY),
    group("Agents", AGENTS),
    group("Processes of agents", PROCESSES),
    group("Pages of the web", CAPTURES),
];

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    GROUPS.iter().flat_map(|group| group.rows)
}

const NONE: Fallback = Nothing("-");

/// A setting of the file alone.
const fn file(key: &'static str, kind: Kind, fallback: Fallback, help: &'static str) -> Row {
    let (flag, variable) = (None, Variable::None);
    Row {
        key,
        kind,
        help,
        flag,
        variable,
        fallback,
        is_in_file: true,
    }
}

/// A setting of the file that a variable overrides.
const fn both(
    key: &'static str,
    variable: &'static str,
    kind: Kind,
    fallback: Fallback,
    help: &'static str,
) -> Row {
    Row {
        variable: Variable::OverFile(variable),
        ..file(key, kind, fallback, help)
    }
}

/// A setting of agents that a variable is the default of.
const fn agent(
    key: &'static str,
    variable: Variable,
    kind: Kind,
    fallback: Fallback,
    help: &'static str,
) -> Row {
    Row {
        variable,
        ..file(key, kind, fallback, help)
    }
}

const fn retention(key: &'static str, kept: Kept, help: &'static str) -> Row {
    file(
        key,
        number(kept.days_min(), DAYS_MAX),
        count(kept.days_default()),
        help,
    )
}

const fn price(key: &'static str, help: &'static str) -> Row {
    file(key, Kind::Price, Number(0), help)
}

const fn number(min: u32, max: u32) -> Kind {
    let (min, max) = (min as u64, max as u64);
    Kind::Number { min, max }
}

const fn count(number: u32) -> Fallback {
    Number(number as u64)
}

const MILLION: Kind = number(1, 1_000_000);
const DAY_S: Kind = number(1, 86_400);

/// The folder and the file that have to be known before any other setting.
pub(super) const DATA_FOLDER: Row = Row {
    flag: Some("--data"),
    is_in_file: false,
    ..both(
        "data",
        "VOID_DATA",
        Kind::Path,
        Fallback::DataFolder,
        "the data folder: database, keys, and the files that are looked for in it",
    )
};
pub(super) const CONFIG_FILE: Row = Row {
    flag: Some("--config"),
    is_in_file: false,
    ..file(
        "config_file",
        Kind::Path,
        InData("void.toml"),
        "the settings file",
    )
};

// One row, one line, so that it reads as a table.
#[rustfmt::skip]
const SERVER: &[Row] = &[
    DATA_FOLDER,
    CONFIG_FILE,
    both("listen", "VOID_LISTEN", Kind::Address, Text("127.0.0.1:3000"), "where Void listens; an address without a port means port 3000").flag("--listen"),
    both("public_url", "VOID_PUBLIC_URL", Kind::Url, NONE, "the address by which browsers reach Void through a proxy"),
    file("allowed_hosts", Kind::Texts, NONE, "other names by which browsers reach Void; loopback and the address it listens on always work"),
    both("instance", "VOID_INSTANCE", Kind::InstanceName, Nothing("a name made at the first start and kept in the data folder"), "what this instance is called among others on the database"),
    both("actions", "ACTIONS_CONFIG", Kind::Path, InData("actions.json"), "the catalogue; without it nothing may run").flag("--actions"),
    both("services", "SERVICES_CONFIG", Kind::Path, InData("services.json"), "what is watched; without it nothing is"),
    both("owner_token", "OWNER_TOKEN", Kind::Secret, Nothing("owner.token in the data folder, made at the first start"), "the owner's token"),
    Row { is_in_file: false, ..both("little_blue_token", "LITTLEBLUE_TOKEN", Kind::Secret, NONE, "a token by which scripts speak as Little Blue") },
];

#[rustfmt::skip]
const MACHINES: &[Row] = &[
    both("ssh.key", "ACTIONS_SSH_KEY", Kind::Path, NONE, "the private key for hosts that are reached by SSH"),
    both("ssh.known_hosts", "VOID_KNOWN_HOSTS", Kind::Path, InData("known_hosts"), "the host keys that Void trusts"),
    file("ssh.run_folder", Kind::Path, InData("run"), "where connections are kept open"),
    file("ssh.program", Kind::Path, Text("/usr/bin/ssh"), "the SSH client; `ssh-keyscan` is looked for beside it"),
    file("local.program", Kind::Path, Nothing("void act, which is this program itself"), "what does the work of `void-act` on this machine"),
    file("local.list", Kind::Path, Text(void_act::LIST_PATH), "what this machine allows to be done on it"),
    file("local.state", Kind::Path, InData("void-act"), "where this machine's journal is kept"),
    file("local.trust_own_list", Kind::Bool, Bool(false), "accept a list that belongs to Void's own account, for rehearsals"),
    both("proxmox.url", "PROXMOX_API_URL", Kind::Url, NONE, "where Proxmox' API is"),
    both("proxmox.token", "PROXMOX_API_TOKEN", Kind::Secret, NONE, "`user@realm!name=secret`"),
    both("proxmox.fingerprint", "PROXMOX_FINGERPRINT", Kind::Text, NONE, "SHA-256 of its certificate; this or the next one is needed"),
    both("proxmox.ca_file", "PROXMOX_CA_FILE", Kind::Path, NONE, "the authority that signed its certificate"),
    file("self.guests", Kind::Guests, NONE, "guests that Void lives on, as `node/vmid`"),
    file("self.hosts", Kind::Hosts, NONE, "hosts that Void lives on, as `host` or `host/service`"),
    file("self.protected", Kind::Protected, NONE, "whatever else has to stay up for you to reach Void"),
    both("bridge.dir", "VOID_BRIDGE_DIR", Kind::Path, Nothing("none; the bridge is off"), "the folder of the file bridge"),
    file("bridge.decisions", Kind::Bool, Bool(false), "whether a move in that folder decides"),
];

#[rustfmt::skip]
const DATA: &[Row] = &[
    both("database.url", "VOID_DATABASE_URL", Kind::Secret, Nothing("SQLite, void.db in the data folder"), "PostgreSQL; an address without a password may stand in the file as it is"),
    file("database.ca_file", Kind::Path, NONE, "with it PostgreSQL is reached by verified TLS"),
    file("backups.enabled", Kind::Bool, Bool(true), "whether SQLite is copied every day"),
    file("backups.folder", Kind::Path, InData("backups"), "where the copies are"),
];

#[rustfmt::skip]
const SEARCH: &[Row] = &[
    both("embeddings", "VOID_EMBEDDINGS", Kind::Text, Text("off"), "where vectors of what you keep come from: `off`, `local:FOLDER` with the files of all-MiniLM-L6-v2, `ollama:MODEL` or `openai:MODEL`; but for `local` your texts go to that server"),
    both("embeddings_url", "VOID_EMBEDDINGS_URL", Kind::Url, Nothing("http://127.0.0.1:11434 for `ollama`, https://api.openai.com/v1 for `openai`"), "where that server is"),
    both("embeddings_key", "VOID_EMBEDDINGS_KEY", Kind::Secret, NONE, "the key for that server"),
];

#[rustfmt::skip]
const LIMITS: &[Row] = &[
    file("limits.open_proposals", MILLION, Number(limits::OPEN_PROPOSALS_MAX), "proposals that may be open at a time"),
    file("limits.open_proposals_per_agent", MILLION, Number(limits::OPEN_PROPOSALS_PER_AGENT_MAX), "the same of one agent"),
    file("limits.safe_runs_per_agent_hour", number(1, limits::SAFE_RUNS_PER_AGENT_HOUR_MAX), count(limits::SAFE_RUNS_PER_AGENT_HOUR),
        "safe actions that one agent may start in an hour; the owner is not counted, and an agent without the capability `act` starts none"),
    file("limits.lease_s", DAY_S, Number(limits::CLAIM_LEASE.as_secs()), "seconds that a start may take to be sent before Void asks what became of it"),
    file("limits.verify_within_s", DAY_S, Number(limits::VERIFY_WITHIN.as_secs()), "seconds after a run in which its check has to show that it worked"),
    file("limits.token_requests_per_s", MILLION, count(TOKEN_REQUESTS_PER_S), "requests of one token in a second; ten times as many at once"),
    file("limits.token_rows_per_minute", MILLION, count(TOKEN_ROWS_PER_MINUTE), "changes that one token may ask for in a minute"),
    file("limits.token_streams", MILLION, count(TOKEN_STREAMS_MAX), "streams and MCP connections that one token keeps open"),
    retention("retention.refused_days", Kept::Refused, "days that refused proposals are kept"),
    retention("retention.ended_days", Kept::Ended, "days that proposals are kept after their end"),
    retention("retention.events_days", Kept::Events, "days back from which a stream can go on"),
    retention("retention.notifications_days", Kept::Notifications, "days that deliveries are kept"),
    retention("retention.sessions_days", Kept::Sessions, "days that sessions are kept after their end"),
    retention("retention.messages_days", Kept::Messages, "days that conversations are kept"),
];

#[rustfmt::skip]
const NOTIFY: &[Row] = &[
    both("notify.telegram.token", "TELEGRAM_BOT_TOKEN", Kind::Secret, NONE, "the token that @BotFather gave you"),
    both("notify.telegram.api_url", "TELEGRAM_API_URL", Kind::Url, Text(TELEGRAM_API_URL), "a Bot API server of your own"),
    file("notify.telegram.proxy", Kind::Url, NONE, "an HTTP proxy on the way to Telegram"),
    both("notify.telegram.allowed_users", "TELEGRAM_ALLOWED_USERS", Kind::UserIds, Nothing("whoever is paired"), "who may pair at all; @userinfobot on Telegram tells you your number"),
    file("notify.telegram.approve", Kind::Bool, Bool(true), "whether a button there may say yes"),
    file("notify.telegram.approvals_per_day", number(0, 1_000_000), count(limits::TELEGRAM_APPROVALS_PER_DAY), "how often in a day it may"),
    both("notify.ntfy.url", "NTFY_URL", Kind::Url, NONE, "server and topic"),
    both("notify.ntfy.token", "NTFY_TOKEN", Kind::Secret, NONE, "the token of that server"),
    file("notify.ntfy.approve", Kind::Bool, Bool(false), "whether a button there may say yes"),
    file("notify.quiet.from", Kind::Text, NONE, "when quiet hours begin, such as 22:30"),
    file("notify.quiet.until", Kind::Text, NONE, "when they end"),
    file("notify.quiet.critical", Kind::Bool, Bool(false), "whether what is critical comes through"),
    file("notify.timezone", Kind::TimeZone, Nothing("the machine's own"), "of quiet hours and times, such as Europe/Berlin"),
    file("notify.webhooks.N.name", Kind::Text, Required, "what this webhook is called"),
    file("notify.webhooks.N.url", Kind::Url, Required, "where it is sent"),
    file("notify.webhooks.N.secret", Kind::Secret, Required, "what it is signed with"),
];

#[rustfmt::skip]
const AGENTS: &[Row] = &[
    both("claude.program", "CLAUDE_EXE", Kind::Program, Text("claude"), "the `claude` program: a path, or a name on /usr/local/bin:/usr/bin:/bin"),
    both("claude.home", "VOID_CLAUDE_HOME", Kind::Path, NONE, "the folder of its subscription; without it a key is needed"),
    agent("agents.NAME.brain", Variable::UnderFile("VOID_BRAIN"), Kind::Brain, Text(BrainKind::Builtin.as_str()), "what the agent thinks with"),
    agent("agents.NAME.model", Variable::UnderFile("VOID_MODEL"), Kind::Text, OfBrain(BrainKind::model_default), "which model, by its whole name"),
    agent("agents.NAME.key", Variable::OfBrain(BrainKind::key_variable), Kind::Secret, NONE, "the key for the model"),
    agent("agents.NAME.base_url", Variable::OfBrain(BrainKind::url_variable), Kind::Url, OfBrain(BrainKind::url_default), "where the model is"),
    file("agents.NAME.daily_tokens", Kind::Number { min: 0, max: u64::MAX }, Nothing("no limit"), "tokens until midnight UTC; over it the agent refuses"),
    price("agents.NAME.prices.input", "what its model costs, for the sums on the page"),
    price("agents.NAME.prices.output", "the same for what the model writes"),
    price("agents.NAME.prices.cache_read", "the same for what it reads again"),
    price("agents.NAME.prices.cache_write", "the same for what it keeps to read again"),
];

#[rustfmt::skip]
const PROCESSES: &[Row] = &[
    file("processes.sandbox", Kind::Text, Text("full"), "`full`: an agent starts only where the kernel holds the whole sandbox (Linux 6.12); `incomplete`: it starts with what the kernel has, and what is open is said everywhere"),
    file("processes.memory_mib", number(128, 65_536), Number(512), "MiB of address space that one agent process may have"),
    file("processes.file_mib", number(1, 65_536), Number(64), "MiB that one file of an agent may have; a process that writes beyond it is ended"),
    file("processes.users", Kind::Text, Text("70000-70999"), "numbers of users, and of groups, that agent processes run as where Void runs as root, one each; nobody else may have them. `none`: they run as root without its rights"),
    file("processes.driver", Kind::Text, Text("process"), "`process`: a child of the server; `nspawn`: the same in a container of systemd-nspawn, which needs root"),
    file("processes.nspawn_root", Kind::Path, NONE, "the root file system of the containers, with the libraries that this program needs"),
];

#[rustfmt::skip]
const CAPTURES: &[Row] = &[
    file("captures.allowed", Kind::Texts, Nothing("public addresses alone"), "hosts and networks of the house that pages may be captured from: `nas.lan`, `nas.lan:8080`, `192.168.1.0/24`"),
    file("captures.isolation", Kind::Text, Text("full"), "`full`, or `without-landlock` where the kernel has no Landlock: then a reader of foreign bytes that is fooled may open the files of Void's account"),
];

/// Variables that are no settings of the server: the command line, the MCP child, nodes and the log read them.
#[rustfmt::skip]
pub(super) const OTHER_VARIABLES: [(&str, &str); 11] = [
    ("VOID_API_URL", "the server that the command line and `void mcp` talk to"),
    ("VOID_AGENT_TOKEN", "the agent's token of `void mcp`, and of the command line where the owner's is not there"),
    ("VOID_TOOL_REGISTRY", "which set of tools `void mcp` offers: `blue`, `security` or `companion`"),
    ("VOID_INSECURE_HTTP", "`1` lets a token go over plain http to another machine"),
    ("VOID_JOIN_TOKEN", "what `void node join` joins with"),
    ("VOID_LOG", "what is logged: `info`, `debug`, `void_control=debug`"),
    ("VOID_AGENT", "in an agent process: its name"),
    ("VOID_PARENT", "in an agent process: whom it stands under; absent at the root"),
    ("HIVE_PARENT", "the same, as agents of hyperhive know it"),
    ("VOID_TOKEN_FD", "in an agent process: the descriptor whose first line is its token"),
    ("CREDENTIALS_DIRECTORY", "where systemd puts what `credential:NAME` names"),
];
