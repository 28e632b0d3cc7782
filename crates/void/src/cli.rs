//! The command line. Nouns for things, bare verbs for the daily ones.

mod agents;
mod conversations;
mod kb;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::agents::{
    AgentConfigArgs, AgentLogsArgs, AgentMoveArgs, AgentNewArgs, AgentsCommand,
};
pub(crate) use self::conversations::{ConversationListArgs, ConversationsCommand};
pub(crate) use self::kb::{
    KbAttachArgs, KbAttachmentsArgs, KbCaptureArgs, KbCommand, KbEditArgs, KbExportArgs,
    KbFieldArgs, KbGetArgs, KbImportArgs, KbKind, KbListArgs, KbNamedArgs, KbNewArgs, KbNoun,
    KbRunbookArgs, KbSearchArgs, KbState, KbTextArgs,
};
use crate::output::ColorChoice;

/// What every command takes is listed apart from what is its own.
const EVERYWHERE: &str = "Options of every command";

#[derive(Debug, Clone, Parser)]
#[command(
    name = "void",
    version,
    about = "Agents name an action from your whitelist; safe ones run, risky ones wait for your nod.",
    after_help = "Examples:\n  void demo\n  void serve\n  void actions ls\n  void run restart-caddy --reason \"502 since 20:10\"\n  void inbox ls\n  void inbox approve 7F3K\n  void freeze --reason \"hands off\"\n\nExit codes: void help-exit-codes",
    disable_help_subcommand = false
)]
pub(crate) struct Cli {
    /// The settings file; void.toml in the data folder if left out
    #[arg(long, global = true, value_name = "FILE", help_heading = EVERYWHERE)]
    pub config: Option<PathBuf>,
    /// The data folder
    #[arg(long, global = true, value_name = "FOLDER", help_heading = EVERYWHERE)]
    pub data: Option<PathBuf>,
    /// The server to talk to
    #[arg(long, global = true, value_name = "URL", help_heading = EVERYWHERE)]
    pub url: Option<String>,
    /// Print JSON
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub json: bool,
    /// Print times as RFC 3339 in UTC
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub utc: bool,
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = EVERYWHERE)]
    pub color: ColorChoice,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// A rehearsal lab on this machine: no credentials, no network, nothing left behind
    Demo(DemoArgs),
    /// Run the control plane
    Serve(ServeArgs),
    /// Take over the catalogue, services and settings as they are in the files now, without closing the door
    Reload(ReloadArgs),
    /// One screen: what waits, what runs, what is wrong
    Status,
    /// The catalogue
    #[command(subcommand)]
    Actions(ActionsCommand),
    /// Name an action: safe ones run at once, risky ones wait
    Run(RunArgs),
    /// What waits for you
    #[command(subcommand)]
    Inbox(InboxCommand),
    /// Let nothing new start; what runs now runs to its end
    Freeze(FreezeArgs),
    /// Let things run again
    Thaw,
    /// Watched services: up, down or unknown
    Services(ServicesArgs),
    /// Talk to an agent
    Chat(ChatArgs),
    /// What was said: find, read, keep elsewhere or delete conversations
    #[command(subcommand)]
    Conversations(ConversationsCommand),
    /// Who talks here, and who stands under whom
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// What you know: pages, tasks, refs and projects in spaces
    #[command(subcommand)]
    Kb(KbCommand),
    /// The machines behind the catalogue
    #[command(subcommand)]
    Hosts(HostsCommand),
    /// Machines that dial out for their work
    #[command(subcommand)]
    Node(NodeCommand),
    /// The record
    #[command(subcommand)]
    Audit(AuditCommand),
    /// A link that signs a browser in, once and within an hour
    SetupLink(QrArgs),
    /// Tokens of agents, viewers and nodes
    #[command(subcommand)]
    Token(TokenCommand),
    /// Tools for a program that speaks MCP on standard input and output
    ///
    /// Reads VOID_API_URL, VOID_AGENT_TOKEN, VOID_TOOL_REGISTRY (blue, security or companion) and VOID_INSECURE_HTTP, and
    /// nothing else.
    Mcp(McpArgs),
    /// How you are told what waits
    #[command(subcommand)]
    Notify(NotifyCommand),
    /// Copies of the database
    #[command(subcommand)]
    Backup(BackupCommand),
    /// What came back with an older copy of the database and waits for your confirmation
    #[command(subcommand)]
    Quarantine(QuarantineCommand),
    /// The folder through which other tools propose, decide and execute
    #[command(subcommand)]
    Bridge(BridgeCommand),
    /// The time that the record goes by
    #[command(subcommand)]
    Clock(ClockCommand),
    /// The settings in force
    #[command(subcommand)]
    Config(ConfigCommand),
    /// What to install on a machine, made from the catalogue
    #[command(subcommand)]
    Provision(ProvisionCommand),
    /// Void as a service of this machine
    #[command(subcommand)]
    Service(ServiceCommand),
    /// Look for what is wrong, and name the next command
    Doctor(DoctorArgs),
    /// Completions for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// The version
    Version,
    /// What the exit codes mean
    HelpExitCodes,
    /// What the codes of failures mean, and which exit code each has
    HelpCodes,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DemoArgs {
    /// The loopback port; 3000 or a free one if left out
    #[arg(long)]
    pub port: Option<u16>,
    /// Another address than loopback, such as 0.0.0.0, so that a phone in the same network can look on
    #[arg(long, value_name = "ADDRESS", conflicts_with = "port")]
    pub listen: Option<String>,
    /// A Bot API to speak to, so that the phone's part can be watched too
    #[arg(long, value_name = "URL")]
    pub telegram_base: Option<String>,
    #[command(flatten)]
    pub qr: QrArgs,
}

/// Whether a link is drawn as a QR code; without either on a terminal only
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct QrArgs {
    /// Draw the link as a QR code, also where the output is no terminal
    #[arg(long, conflicts_with_all = ["no_qr", "json"])]
    pub qr: bool,
    /// Draw no QR code
    #[arg(long)]
    pub no_qr: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServicesArgs {
    /// One service, with its changes of the last day
    pub id: Option<String>,
    /// Print a services file to begin with, for a service at a port of this machine, such as caddy:80
    #[arg(long, value_name = "NAME:PORT", conflicts_with = "id")]
    pub example: Option<String>,
}

#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  void chat\n  void chat -m \"what is wrong?\"\n  void chat sentinel -m \"what was refused today?\"\n  journalctl -u caddy -n 20 | void chat"
)]
pub(crate) struct ChatArgs {
    /// Whom to talk to; Little Blue, or in a space who answers there
    pub agent: Option<String>,
    /// Say this and end with the answer, with the lines of a pipe beneath it; without it a conversation begins, or the pipe is the message
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Begin a new conversation
    #[arg(long, conflicts_with = "space")]
    pub new: bool,
    /// Talk in this space, by title or id: what is found and drafted is of it
    #[arg(long, value_name = "TITLE_OR_ID")]
    pub space: Option<String>,
    /// What "this" means in what you say: page:ID, service:NAME, guest:NODE/NUMBER and so on
    #[arg(long, value_name = "KIND:ID")]
    pub looking_at: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen: an address, and a port if it is not 3000
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// The catalogue
    #[arg(long, value_name = "FILE")]
    pub actions: Option<PathBuf>,
    /// Start although another instance on the database has another catalogue
    #[arg(long)]
    pub replace_catalogue: bool,
    /// How the log is written
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub log_format: LogFormat,
    #[command(flatten)]
    pub qr: QrArgs,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReloadArgs {
    /// Show what would appear, go and change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ActionsCommand {
    /// List what may run
    Ls,
    /// Show one action
    Show {
        /// The action, as `void actions ls` lists it
        id: String,
    },
    /// Check a catalogue without a server; every problem at once
    Lint {
        /// Another file than the catalogue in use
        file: Option<PathBuf>,
    },
    /// Propose another catalogue; it waits for your yes, and takes effect at the start after it
    Propose {
        /// The whole new file, or a unified diff against the loaded one; - reads standard input
        file: PathBuf,
        /// Why; stands on the card
        #[arg(long)]
        reason: Option<String>,
    },
    /// The JSON Schema for editors
    Schema,
    /// Print a catalogue to begin with: one action that restarts a service of this machine
    Example {
        /// The systemd service, such as caddy
        service: String,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// The action, as `void actions ls` lists it
    pub action_id: String,
    /// Why; the owner sees it as your words
    #[arg(long)]
    pub reason: Option<String>,
    /// A parameter, as name=value; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Seconds to wait for an end
    #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=300))]
    pub wait: u64,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum InboxCommand {
    /// List what waits, or with --all everything that was ever asked for, newest first
    Ls(InboxListArgs),
    /// Show one: what happens on yes, what checks it, and everything it binds
    Show {
        /// Its code, such as K7M2, or its id
        id: String,
        /// A draft's difference as a unified diff instead of word by word
        #[arg(long)]
        unified: bool,
    },
    /// Say yes
    Approve {
        /// Its code, such as K7M2, or its id
        id: String,
        /// The digest you saw, or its four words; needed where there is nobody to ask, and for what may cut you off
        #[arg(long, value_name = "DIGEST|WORDS")]
        digest: Option<String>,
        /// Do not ask again
        #[arg(long)]
        yes: bool,
        /// Why, for the record
        #[arg(long)]
        reason: Option<String>,
        /// Seconds to wait for an end
        #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=300))]
        wait: u64,
    },
    /// Say no
    Reject {
        /// Its code, such as K7M2, or its id
        id: String,
        /// Why, for whoever asked and for the record
        #[arg(long)]
        reason: Option<String>,
    },
    /// Withdraw a request that waits, for your yes or, approved, for its start
    Cancel {
        /// Its code, such as K7M2, or its id
        id: String,
    },
    /// Ask again for a draft that was not applied: a new one says the same of what is there now
    Again {
        /// Its code, such as K7M2, or its id
        id: String,
    },
    /// Say what became of a run whose outcome is unknown
    Settle {
        /// Its code, such as K7M2, or its id
        id: String,
        /// What became of it, as you saw on the machine
        #[arg(long = "as", value_enum, value_name = "OUTCOME")]
        outcome: SettleOutcome,
    },
    /// Follow what happens, or one proposal to its end
    Watch {
        /// One request, by code or id; all of them if left out
        id: Option<String>,
    },
}

#[derive(Debug, Clone, Args)]
pub(crate) struct InboxListArgs {
    /// What has ended too
    #[arg(long)]
    pub all: bool,
    /// How many of them
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub limit: Option<u32>,
    /// Where the page before ended
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SettleOutcome {
    Executed,
    Failed,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct FreezeArgs {
    /// Why, for the record
    #[arg(long)]
    pub reason: Option<String>,
    /// End by itself after this long, such as 30m or 4h
    #[arg(long = "for", value_name = "DURATION")]
    pub lasts: Option<String>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum HostsCommand {
    /// List the machines and the keys that are trusted for them
    Ls,
    /// Ask a machine for its list and compare it with the catalogue
    Check {
        /// The machine, as the catalogue calls it
        name: String,
    },
    /// Trust a host key that you compared on the machine itself
    Trust {
        /// The machine, as the catalogue calls it
        name: String,
        /// What the machine itself printed, to compare
        #[arg(long, value_name = "SHA256:…")]
        fingerprint: String,
    },
}

#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "On Void's machine:\n  void node invite nas\n  void provision node nas\n  void node approve nas --fingerprint AB:CD:…\n  void node ls\n\nOn the machine itself:\n  void node install | sudo sh\n  sudo -u voidnode void node join https://void.lan --token void_join_…\n  sudo systemctl enable --now void-node\n  void node uninstall | sudo sh"
)]
pub(crate) enum NodeCommand {
    /// Make a join token for a machine; it is shown this once and good for an hour
    Invite {
        /// What it is to be called here
        name: String,
    },
    /// List the nodes: here or away, version, whether the list fits
    Ls,
    /// Let a machine in whose fingerprint you compared
    Approve {
        /// The machine, as `void node ls` lists it
        name: String,
        /// What the machine itself printed, to compare
        #[arg(long, value_name = "FINGERPRINT")]
        fingerprint: String,
    },
    /// Withdraw an invitation, turn a machine away, or end its membership
    Revoke {
        /// The machine, as `void node ls` lists it
        name: String,
    },
    /// On a machine: ask a server to let it in, and wait for the owner
    Join(NodeJoinArgs),
    /// On a machine: wait for work and do it
    Run(NodeRunArgs),
    /// Print the script that sets a machine up: account, folders, systemd unit
    Install,
    /// Print the script that removes exactly what the other one made
    Uninstall,
}

#[derive(Debug, Clone, Copy, Subcommand)]
#[command(
    after_help = "Both print a script and change nothing; read it, then run it:\n  void service install | sudo sh\n  void service uninstall | sudo sh\n\nFor your own account, without root:\n  void service install --user | sh\n  void service uninstall --user | sh"
)]
pub(crate) enum ServiceCommand {
    /// Print the script that makes the account, the data folder and the systemd unit, and starts it
    Install(ServiceArgs),
    /// Print the script that stops it and takes the unit away; the data stays
    Uninstall(ServiceArgs),
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ServiceArgs {
    /// A unit of your own account instead of the machine's
    #[arg(long)]
    pub user: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct NodeJoinArgs {
    /// The server, such as https://void.lan
    #[arg(value_name = "URL")]
    pub server: String,
    /// The join token
    #[arg(long, env = "VOID_JOIN_TOKEN", hide_env_values = true)]
    pub token: String,
    /// SHA-256 of the server's certificate, to trust that one and no other
    #[arg(long, value_name = "SHA256")]
    pub fingerprint: Option<String>,
    /// Who signed the server's certificate, as a PEM file; this machine's authorities if left out
    #[arg(long, value_name = "FILE", conflicts_with = "fingerprint")]
    pub ca: Option<PathBuf>,
    /// Allow http:// beyond this machine, where the network itself is encrypted
    #[arg(long)]
    pub plain_http: bool,
    /// The node's own folder
    #[arg(long, value_name = "FOLDER", default_value = crate::node::folder::STATE)]
    pub state: PathBuf,
    /// Do not wait for the owner
    #[arg(long)]
    pub no_wait: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct NodeRunArgs {
    /// The node's own folder
    #[arg(long, value_name = "FOLDER", default_value = crate::node::folder::STATE)]
    pub state: PathBuf,
    /// What may run here; owned by root and writable by nobody else
    #[arg(long, value_name = "FILE", default_value = crate::node::folder::LIST)]
    pub list: PathBuf,
    /// Accept a list that belongs to the account that this runs as; for rehearsals
    #[arg(long)]
    pub trust_own_list: bool,
    /// How the log is written
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub log_format: LogFormat,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum AuditCommand {
    /// The newest entries
    Ls {
        /// Only about this proposal
        #[arg(long)]
        subject: Option<String>,
        /// How many of them
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: u32,
    },
    /// One entry
    Show {
        /// The number of the entry
        seq: u64,
    },
    /// Check the chain: of a file without any server, or of the server's own record
    Verify {
        /// An export; the record of the running server if left out
        file: Option<PathBuf>,
        /// A hash that you noted earlier; proves that the tail was not cut off
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// The file is meant to be a part that begins with this entry
        #[arg(long, value_name = "SEQ", requires = "file", value_parser = clap::value_parser!(u64).range(1..))]
        from: Option<u64>,
    },
    /// Write the whole record as JSON lines
    Export {
        /// The file to write; standard output if left out
        file: Option<PathBuf>,
        /// Replace a file that is there
        #[arg(long, requires = "file")]
        force: bool,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; its text is shown this once
    New {
        /// Who holds it
        #[arg(long, value_enum)]
        kind: TokenKind,
        /// What it is called here and on the record
        #[arg(long)]
        name: String,
        /// A capability of an agent; may be repeated: read sees, act proposes, runs what is safe, and freezes,
        /// suggest drafts changes of the catalogue, audit.read reads the record
        #[arg(long = "cap", value_name = "CAPABILITY")]
        capabilities: Vec<String>,
        /// Bring back the withdrawn agent of this name, with these capabilities
        #[arg(long)]
        restore: bool,
    },
    /// List tokens
    Ls,
    /// Answer for a token that has read what a stranger could have written: its safe actions run again
    Clear {
        /// Its name, its id, or how its id begins
        #[arg(value_name = "NAME_OR_ID")]
        id: String,
    },
    /// Withdraw a token
    Revoke {
        /// Its name, its id, or how its id begins
        #[arg(value_name = "NAME_OR_ID")]
        id: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum TokenKind {
    Agent,
    Viewer,
    Node,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum McpCommand {
    /// What to write into a client's settings, and where
    Config(McpConfigArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct McpConfigArgs {
    /// The program that is to use Void
    #[arg(value_enum)]
    pub client: McpClient,
    /// Write the token of VOID_AGENT_TOKEN into it
    #[arg(long)]
    pub with_token: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpClient {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    Zed,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum NotifyCommand {
    /// Make this account or topic one that is told
    Pair {
        /// Where you are told
        #[arg(value_enum)]
        channel: PairChannel,
        /// Seconds to wait until the link was opened
        #[arg(long, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=600))]
        wait: u64,
    },
    /// Send a test message to every place, or to one
    Test {
        /// As void notify ls shows it, such as telegram:12345
        target: Option<String>,
    },
    /// Every place with how it stands, what could not be delivered, and what is muted
    Ls,
    /// Stop telling an account, and stop listening to it
    Rm {
        /// The pair, as `void notify ls` lists it
        target: String,
    },
    /// Try again what could not be delivered
    Retry {
        /// The message, as `void notify ls` lists it
        id: String,
    },
    /// Do not tell for a time that a service, or anything on a host, is down
    Mute(MuteArgs),
    /// Tell it again
    Unmute(UnmuteArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct MuteArgs {
    /// As void services shows it
    #[arg(required_unless_present = "host", conflicts_with = "host")]
    pub service: Option<String>,
    /// Everything on this host, or on the guests of this node
    #[arg(long)]
    pub host: Option<String>,
    /// End by itself after this long, such as 30m or 4h; 4h if nothing is said, 30 days at most
    #[arg(long = "for", value_name = "DURATION", conflicts_with = "until")]
    pub lasts: Option<String>,
    /// End at this time: 22:00 by this machine's clock, or 2026-11-16T22:00:00Z
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Why; it is on the record
    #[arg(long)]
    pub reason: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct UnmuteArgs {
    /// The service, as it is watched
    #[arg(required_unless_present = "host", conflicts_with = "host")]
    pub service: Option<String>,
    /// A machine instead of a service
    #[arg(long)]
    pub host: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PairChannel {
    Telegram,
    Ntfy,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum BackupCommand {
    /// Make a checked copy now
    Create,
    /// List the copies
    Ls,
    /// Check a copy: the file, its schema and the whole audit chain
    Verify {
        /// The copy
        file: PathBuf,
    },
    /// Put a copy in place; the server must not run
    Restore {
        /// The copy
        file: PathBuf,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum QuarantineCommand {
    /// List it; nothing in it opens anything
    Ls,
    /// Let one open again what it opened, or all of them after you have read the list
    Confirm(QuarantineArgs),
    /// Revoke one for good, or all of them
    Remove(QuarantineArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct QuarantineArgs {
    /// The id or the name as the list shows it; or --all
    pub id: Option<String>,
    /// All of them, after you have read the list
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum BridgeCommand {
    /// Whether it is on, what is in the folder, and what was set aside and why
    Status,
    /// Follow what moves
    Watch,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every value with where it comes from
    Show,
    /// Check settings, environment, catalogue and services, and say everything that is wrong at once
    Check,
    /// Every setting that there is, as docs/settings.md has it
    Docs,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ClockCommand {
    /// This machine's clock is right: follow it from the next start on, and end what the wrong one gave out
    ///
    /// Either the record is ahead of the clock, or the clock jumped and is in doubt (void status). At the next start
    /// everything that waits is void, all sessions are over, and set-up links, pairing codes, buttons and invitations
    /// that were not used are void; the record has clock.accepted. What is older than its retention by the accepted
    /// clock is dropped, so look twice at a clock that is years ahead. A start that finds no doubt drops your word.
    Accept,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ProvisionCommand {
    /// The list, state folder and sudoers lines for this machine, for actions with "host": "local"
    Local {
        /// The account that Void runs as; the owner of the data folder if left out
        #[arg(long, value_name = "ACCOUNT")]
        user: Option<String>,
    },
    /// The list, key line, sudoers lines and commands for one host
    Ssh {
        /// The machine, as the catalogue calls it
        host: String,
    },
    /// The list, sudoers lines and commands for a machine that runs `void node`
    Node {
        /// The machine, as `void node ls` lists it
        name: String,
    },
    /// The pveum commands for a token that can switch the catalogue's guests and nothing else
    Proxmox,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArgs {
    /// Warnings count as failures
    #[arg(long)]
    pub strict: bool,
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use super::*;

    fn unexplained(command: &Command, path: &str) -> Vec<String> {
        let path = format!("{path} {}", command.get_name());
        let own = command.get_arguments().filter(|argument| {
            argument.get_help().is_none() && !argument.is_hide_set() && !argument.is_global_set()
        });
        let mut found: Vec<String> = own
            .map(|argument| format!("{path} {}", argument.get_id()))
            .collect();
        for inner in command.get_subcommands() {
            found.extend(unexplained(inner, &path));
        }
        found
    }

    #[test]
    fn every_argument_says_what_it_is() {
        assert_eq!(unexplained(&Cli::command(), ""), Vec::<String>::new());
    }
}
