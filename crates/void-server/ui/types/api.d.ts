// What the server takes and answers, made from its OpenAPI document. Not to be edited; to make it anew:
// UPDATE_PAGE_TYPES=1 cargo test -p void-server --test it page_types

export interface ActRequest {
  /** What the notification carried. */
  token: string;
}

export interface ActedResponse {
  code: string;
  /** `approve` or `reject`. */
  decision: string;
  status: string;
}

export interface ActionResponse {
  /** What binds agents, with the default of safe actions. */
  agent_cooldown_s: number | null;
  agents: string[] | null;
  /** What is looked at afterwards, as a sentence; also that nothing is. */
  checked_by: string;
  /** As the catalogue says: for everybody, or 0 for nobody. */
  cooldown_s: number | null;
  digest: string;
  exec_digest: string;
  expires_s: number;
  /** `lxc` or `qemu`, for an action on a guest. */
  guest: string | null;
  host: string | null;
  id: string;
  inverse: string | null;
  kind: string;
  /** The same under its older name. */
  kindPath: string | null;
  label: string;
  max_per_hour: number | null;
  node: string | null;
  op: string | null;
  params: Record<string, ParamSpec>;
  /** Why the lock-out guard raised it to critical. */
  raised: string | null;
  risk: "nominal" | "guarded" | "critical";
  service: string | null;
  target: string;
  tier: "safe" | "risky";
  timeout_s: number;
  verify: string | null;
  /** Which channel it takes: `host`, `proxmox`, `node` or `file`. */
  via: string;
  vmid: number | null;
}

export interface ActionsResponse {
  actions: ActionResponse[];
  catalogue: CatalogueResponse;
}

export interface Agent {
  about: string;
  /** builtin, anthropic, openai, ollama or claude. */
  brain: string;
  /** What it may do; empty if its token was withdrawn. */
  capabilities: string[];
  /** Tokens it may use a day; null means no bound. */
  daily_tokens: number | null;
  /** What `agent_id` is in the rows it asks for; null until it has acted or was talked to. */
  id: string | null;
  model: string;
  name: string;
  slug: string;
  /** In millionths of a dollar, by the prices that the owner set. */
  used_cost_micros: number;
  /** What it used since midnight UTC. */
  used_tokens: number;
  /** Whether the owner withdrew its token: it does not answer then. */
  withdrawn: boolean;
}

export interface AgentsResponse {
  agents: Agent[];
}

export interface AllowedBy {
  /** The commit of the catalogue, where it is in a git work tree. */
  commit: string | null;
  digest: string;
  /** null for a change: no action of the catalogue allows it. */
  id: string | null;
}

export interface ApproveRequest {
  /** The fingerprint that the node shows. */
  fingerprint: string;
}

export interface AuditEntry {
  actor: string;
  at: string;
  catalogue: string | null;
  detail: Record<string, unknown>;
  hash?: string | null;
  /** Not for agents: whoever has the hash of an entry can try out the words that are kept from them. */
  prev?: string | null;
  request_id: string | null;
  seq: number;
  subject: string | null;
  verb: string;
}

export interface AuditResponse {
  entries: AuditEntry[];
  /** Not for agents, who see no hashes. */
  head?: HeadResponse | null;
  next: string | null;
}

export interface AuditVerdict {
  at: string;
  checked: number;
  head: HeadResponse;
  /**
   * Every entry up to the head is as it was written, and nothing stands beyond it. That the head itself is the right one
   * is shown by a copy of it that is kept elsewhere.
   */
  intact: boolean;
  /**
   * Rows of proposals, tokens and the freeze that do not say what the record says: somebody edited the database. The
   * first hundred are named.
   */
  mismatches: VerdictMismatch[];
  mismatches_total: number;
  problem: VerdictProblem | null;
  /**
   * Rows that stood beyond the head, which Void did not write: kept in the table `audit_strays`, each time with an entry
   * `audit.strays_set_aside`.
   */
  set_aside: number;
}

export interface BackupResponse {
  audit_hash: string;
  /** The audit head that the copy holds; it was walked from the first entry. */
  audit_seq: number;
  bytes: number;
  file: string;
  made_at: string;
}

export interface BackupsResponse {
  backups: CopyResponse[];
}

export type Block = {
  inlines: Inline[];
  type: "paragraph";
} | {
  inlines: Inline[];
  /** 1 to 6. */
  level: number;
  type: "heading";
} | {
  /** What the fence calls it; empty if it does not. */
  language: string;
  /** Without the line break at its end. */
  text: string;
  type: "code";
} | {
  blocks: Block[];
  type: "quote";
} | {
  /** The blocks of each item. */
  items: Block[][];
  /** The number of the first item; null for a list without numbers. */
  start: number | null;
  /** Whether its paragraphs stand without a gap between them. */
  tight: boolean;
  type: "list";
} | {
  head: Inline[][];
  /** Each as long as the head. */
  rows: Inline[][][];
  type: "table";
} | {
  type: "rule";
};

export interface Bound {
  /** The requester chose it. */
  is_param: boolean;
  name: string;
  value: string;
}

export interface BridgeResponse {
  /** Files per status directory. */
  counts: Record<string, number>;
  /** Whether an operator's move counts as a decision. */
  decisions: boolean;
  enabled: boolean;
  folder: string | null;
  /** Files in `running/` that belong to no proposal. */
  foreign: number;
  invalid: InvalidResponse[];
  last_scan_at: string | null;
  /** What keeps it from working, if anything does. */
  problem: string | null;
}

export interface Card {
  allowed_by: AllowedBy;
  /** Every value that the digest binds, whole: what the requester chose first, then the definition's. */
  bound: Bound[];
  /** What was asked for is no longer what would run: it cannot be approved, nor asked for again. */
  changed: boolean;
  /** What is looked at afterwards, as a sentence; also that nothing is. */
  checked_by: string;
  /** What happens on yes, as a verb phrase. */
  consequence: string;
  /** What Void itself saw of the services that this is about, whatever the requester says. */
  evidence: Service[];
  inverse: Inverse | null;
  /** An approval needs a login of the last minutes, and this session's is older. */
  needs_login: boolean;
  /** The same once it is over, to follow *has*, *would have* or *may have*. */
  past: string;
  /** Foreign content that the requester had read. */
  read_before: string[];
  row: Row;
  /** Earlier runs of the same action, newest first. */
  runs: Run[];
  target: string;
  /** `Safe`, `Risky`, `Risky, may cut you off` or `Risky, changes what is allowed`. */
  tier_words: string;
  /** The service that is looked at afterwards, if one is. */
  verify: string | null;
  /** How words of the requester are marked. */
  words_of: string;
}

export interface CatalogueResponse {
  /** The commit of the file, where it is in a git work tree. */
  commit: string | null;
  /** SHA-256 over the file's canonical form. */
  digest: string;
  /** What `void actions lint` has to say about it. */
  warnings: WarningResponse[];
}

export interface Challenge {
  /** To be sent back with the answer, once and within five minutes. */
  challenge: string;
  /** The `publicKey` options of `navigator.credentials`, with bytes as base64url. */
  options: Record<string, unknown>;
}

/** What a change changes. All of it is bound by the digest. */
export interface Change {
  /** What it was made against: the digest of a file, or a revision. null if there was nothing. */
  base_revision: string | null;
  /** A unified diff against that. */
  diff: string;
  entity: string;
  /** Which one; of catalogues, the instance whose it is. */
  entity_id: string | null;
  /** `create`, `update` or `delete`. */
  op: "create" | "update" | "delete";
  /** What that means, in words of Void; what widens comes first. */
  summary: string[];
  /** `knowledge`, `agent_config`, `meta_inputs`, `topology` or `catalogue`. */
  target: "knowledge" | "agent_config" | "meta_inputs" | "topology" | "catalogue";
}

export interface CheckDetail {
  reason?: string | null;
}

export interface CheckError {
  code: string;
  message: string;
}

export interface CheckResponse {
  /** Actions that the host could not start now, such as one that sudo does not let through, and why. */
  cannot: Record<string, string>;
  /** The first difference from the catalogue. */
  drift: string | null;
  error: CheckError | null;
  /** SHA-256 of the host's list file. */
  list: string | null;
  name: string;
  reachable: boolean;
  /** Whether the host's stop file is set. */
  stopped: boolean | null;
  version: string | null;
}

/** What the check after a run saw, of a service or of a guest. */
export interface CheckSeen {
  /** How long after the run. */
  after_ms?: number | null;
  detail?: CheckDetail | null;
  guest?: number | null;
  /** Why it saw nothing; a stable word. */
  reason?: string | null;
  service?: string | null;
  status?: string | null;
}

export interface ClosedResponse {
  closed: boolean;
}

export interface CommandMember {
  /** One command of `void-act`'s grammar: an action id and its ticket, or a question. */
  command: string;
  id: string;
  limit_ms: number;
}

/** One of its members; a set-up link vouches for nobody twice. */
export interface ConfirmRequest {
  passkey?: {
    /** Which challenge it answers. */
    challenge: string;
    /** The JSON of the credential that the browser got. */
    credential: Record<string, unknown>;
  };
  password?: string;
  /** The owner's token. */
  token?: string;
}

export interface ConfirmedResponse {
  fresh_until: string;
  session: OpenSession;
}

/** A conversation as it opens: its newest messages, oldest of them first. */
export interface ConversationResponse {
  agent: Agent;
  conversation_id: string;
  messages: Message[];
  /** The cursor of older messages. */
  next: string | null;
  space_id: string | null;
}

export interface ConversationSummary {
  conversation_id: string;
  created_at: string;
  last_at: string;
  messages: number;
  /** How it begins. */
  words: string;
}

export interface ConversationsResponse {
  conversations: ConversationSummary[];
  next: string | null;
}

export interface CopyResponse {
  bytes: number;
  file: string;
  made_at: string;
}

export interface CountsResponse {
  failure: number;
  join: number;
  proposal: number;
  /** Of the proposals, those that nobody could be told about. */
  untold: number;
}

export interface Decision {
  /** `approve` or `reject`. */
  decision: "approve" | "reject";
  /** The digest of the row that was seen. */
  digest: string;
  reason?: string | null;
  /** The revision of the row that was seen, 0 if left out; an approval of an older one is refused as `changed`. */
  revision?: number | null;
}

export interface DoctorResponse {
  at: string;
  findings: Finding[];
  /** Nothing is a problem; there may be warnings. */
  ok: boolean;
}

/** A file that is read and has nothing in it, or is not there. */
export interface EmptyFile {
  /** Something valid to put into it. */
  example: string;
  path: string;
  /** `actions` or `services`. */
  what: string;
}

export interface Error {
  error: {
    code: string;
    fields?: Record<string, string>;
    hint?: string;
    message: string;
    row?: Row;
  };
}

export interface FailedNotification {
  created_at: string;
  error: string | null;
  id: string;
  proposal_id: string | null;
  target: string;
  tries: number;
}

export interface Finding {
  /** The name of the check; stable. */
  check: string;
  /** `ok`, `warning` or `problem`. */
  level: "ok" | "warning" | "problem";
  message: string;
  /** The next command. */
  next: string | null;
}

/** A question as the provider takes it. Only some of its members are passed on. */
export interface ForwardRequest {
  messages?: unknown[];
}

export interface FreezeRequest {
  /** Seconds after which it ends by itself; the owner alone may set it. */
  for_s?: number | null;
  reason?: string | null;
}

export interface FreezeResponse {
  at: string | null;
  by: string | null;
  frozen: boolean;
  /** Left out for agents if another agent wrote it. */
  reason: string | null;
  until: string | null;
}

export interface Guest {
  /** `lxc` or `qemu`. */
  kind: string;
  load: Load;
  /** What holds it, such as a backup. */
  lock: string | null;
  name: string;
  /** running, stopped, other or unknown. */
  status: string;
  /** Set while it is stopped because the owner stopped it, for a day at most. */
  stopped: Stopped | null;
  uptime_s: number;
  vmid: number;
}

export interface HeadResponse {
  hash: string;
  seq: number;
}

export interface HealthResponse {
  /** `ok` or `unavailable`. */
  status: string;
  version: string;
}

export interface Home {
  /** The cards of what waits first. */
  cards: Card[];
  /** All events up to this one are in it; the stream goes on after it. */
  event: string;
  freeze: FreezeResponse;
  inbox: InboxResponse;
  /** What is not told for a time. */
  mutes: Mute[];
  /** What ended, newest first. */
  recent: Row[];
  services: ServicesResponse;
  setup: Setup;
  status: StatusResponse;
  who: WhoResponse;
}

export interface HostResponse {
  actions: number;
  /** `local` or an SSH address. */
  address: string;
  name: string;
  /** Whether the catalogue pins the key. */
  pinned: boolean;
  port: number | null;
  /** Fingerprints of the keys that are trusted. */
  trusted: string[];
  user: string | null;
}

export interface HostsResponse {
  hosts: HostResponse[];
}

export interface InboxResponse {
  counts: CountsResponse;
  items: ItemResponse[];
  next: string | null;
}

export type Inline = {
  text: string;
  type: "text";
} | {
  text: string;
  type: "code";
} | {
  type: "break";
} | {
  alt: string;
  type: "image";
} | {
  inlines: Inline[];
  /** An address of the web (`http://`, `https://`), of a mailbox (`mailto:`) or of this page (`#/`). */
  to: string;
  type: "link";
} | {
  inlines: Inline[];
  type: "strong";
} | {
  inlines: Inline[];
  type: "emphasis";
} | {
  inlines: Inline[];
  type: "strikethrough";
};

export interface InvalidResponse {
  file: string;
  reason: string;
}

/** The action that undoes this one, as a request of its own. */
export interface Inverse {
  id: string;
  label: string;
  tier: string;
}

export interface Invitation {
  bot: string;
  expires_at: string;
  /** To be opened on the phone, once. */
  link: string;
}

export interface InviteRequest {
  name: string;
}

export interface InvitedResponse {
  expires_at: string;
  name: string;
  /** The join token, shown this once. */
  token: string;
}

export type ItemResponse = RowItem | JoinItem;

/** A machine asks to be a node. */
export interface JoinItem {
  asked_at: string;
  /** To be compared with what the machine itself shows. */
  fingerprint: string;
  from: string;
  kind: "join";
  name: string;
  version: string | null;
}

export interface JoinNodeRequest {
  /** SHA-256 of the secret that the node made and keeps. */
  fingerprint: string;
  /** The join token of `void node invite`. */
  token: string;
  version?: string;
}

export interface JoinedResponse {
  fingerprint: string | null;
  name: string;
  state: string;
}

export interface LabProblem {
  code: string;
  message: string;
}

export interface LabResponse {
  /** Whether Proxmox is set up at all. */
  connected: boolean;
  nodes: Node[];
  /** Why there is nothing to show, or less than there is. */
  problem: LabProblem | null;
  read_at: string | null;
}

export interface ListedSession {
  /** Whether it is the one that asks. */
  current: boolean;
  device: string;
  expires_at: string;
  id: string;
  /** Give or take an hour. */
  last_seen_at: string;
  /** `token`, `password`, `setup` or `passkey`. */
  method: string;
  opened_at: string;
}

/** How busy and how full it is; null where Proxmox does not say. */
export interface Load {
  /** Thousandths of all its processors together. */
  cpu_permille: number | null;
  cpus: number | null;
  /** Of a machine with a disk of its own Proxmox does not know how full it is. */
  disk_bytes: number | null;
  disk_bytes_max: number | null;
  memory_bytes: number | null;
  memory_bytes_max: number | null;
}

export interface LoginMethods {
  /** There is a passkey that is good at the address by which the page was reached. */
  passkey: boolean;
  password: boolean;
  token: boolean;
}

export interface LoginResponse {
  /** Whether there is a passkey or a password at all. */
  is_set_up: boolean;
  /** What this lab is called. */
  lab: string;
  methods: LoginMethods;
  /** Everything behind this is a simulated lab. */
  rehearsal: boolean;
}

/** A JSON-RPC message of a client. */
export interface McpRequest {
  /** Text or a whole number; a message without one is not answered. */
  id?: string | number;
  jsonrpc: "2.0";
  method: string;
  params?: Record<string, unknown> | null;
}

/** What it is answered. */
export interface McpResponse {
  error?: Record<string, unknown> | null;
  id?: unknown;
  jsonrpc: "2.0";
  result?: Record<string, unknown> | null;
}

export interface Message {
  /** The same as a tree of what may be shown of it. */
  blocks: Block[];
  /** Markdown. */
  body: string;
  conversation_id: string;
  created_at: string;
  id: string;
  /** `user` or `assistant`. */
  role: string;
  /** Its place in the conversation, from 1. */
  seq: number;
  /** Of an assistant's message: the turn that made it. */
  turn: Turn | null;
}

export interface MessagesResponse {
  /** Oldest first. */
  messages: Message[];
  /** The cursor of older ones. */
  next: string | null;
}

export interface MoveResponse {
  at: string;
  file: string;
  from: string | null;
  note: string;
  seq: number;
  to: string;
}

export interface MovesResponse {
  enabled: boolean;
  last: number;
  moves: MoveResponse[];
}

export interface Mute {
  at: string;
  /** Who muted it, as the record names them. */
  by: string;
  /** Everything on this host, or on the guests of this node. */
  host: string | null;
  id: string;
  reason: string;
  /** One of the two is set. */
  service: string | null;
  until: string;
}

export interface MuteRequest {
  /** Seconds after which it ends by itself, */
  for_s?: number | null;
  /** or a host or node with everything on it. */
  host?: string | null;
  reason: string;
  /** Either a service, */
  service?: string | null;
  /** or the moment, in RFC 3339; 30 days from now at most. */
  until?: string | null;
}

export interface MutesResponse {
  /** What is muted now, the newest first. */
  mutes: Mute[];
}

export interface NewTokenResponse {
  id: string;
  /** The token itself, shown this once. */
  token: string;
}

export interface Node {
  guests: Guest[];
  load: Load;
  name: string;
  /** online, offline or unknown. */
  status: string;
  uptime_s: number;
}

export interface NodeResponse {
  /** How many actions of the catalogue run there. */
  actions: number;
  /** The first difference between its list and the catalogue. */
  drift: string | null;
  /** SHA-256 of the node's secret, as the node shows it too. */
  fingerprint: string | null;
  /** Whether it polls now. */
  here: boolean;
  invite_expires_at: string | null;
  name: string;
  seen_at: string | null;
  /** `same`, `older`, `newer` or `unknown`, compared with the server. */
  skew: string | null;
  /** `invited`, `waiting` for the owner, or `joined`. */
  state: string;
  /** When its secret was last shown by an older program: it is on two machines. */
  twin_at: string | null;
  version: string | null;
}

export interface NodesResponse {
  nodes: NodeResponse[];
}

export interface NotificationPlace {
  /** `telegram`, `ntfy` or `webhook`. */
  channel: string;
  failed: number;
  last_sent_at: string | null;
  name: string;
  paired_at: string | null;
  /** What is wrong with it now. */
  problem: string | null;
  problem_since: string | null;
  /** null: set up, but nobody is paired. */
  target: string | null;
  waiting: number;
}

export interface NotificationTest {
  problem: string | null;
  sent: boolean;
  target: string;
}

export interface NotificationsResponse {
  /** What was put aside, newest first. */
  failed: FailedNotification[];
  places: NotificationPlace[];
  /** Services that are down and that nobody could be told of. */
  services_untold: number;
  /** Proposals that wait and that nobody could be told about. */
  untold: number;
}

export interface OpenSession {
  /** When the owner last proved who they are; using a session proves nothing. */
  authenticated_at: string;
  expires_at: string;
  id: string;
  /** `token`, `password`, `setup` or `passkey`. */
  method: string;
  opened_at: string;
}

export interface PairRequest {
  /** `telegram`; the other channels are set up in the settings file. */
  channel: "telegram";
}

/** What a parameter may be. */
export type ParamSpec = {
  max: number;
  min: number;
  type: "integer";
} | {
  type: "enum";
  values: string[];
} | {
  max_len: number;
  pattern: string;
  type: "pattern";
};

export type ParamValue = number | string;

export interface Passkey {
  created_at: string;
  id: string;
  last_used_at: string | null;
  name: string;
}

export interface PasskeyRemovedResponse {
  removed: boolean;
}

export interface PasskeyRequest {
  challenge: string;
  /** The JSON of the credential that the browser made. */
  credential: Record<string, unknown>;
  /** What the owner calls it, 1 to 64 characters that print as themselves. */
  name: string;
}

export interface PasskeysResponse {
  passkeys: Passkey[];
}

export interface PasswordRequest {
  /** 12 to 256 bytes, and not one of the first that anybody tries. */
  password: string;
}

export interface PasswordResponse {
  /** Whether there is one now. */
  is_set: boolean;
}

/** Another catalogue: a diff against the loaded one, or the whole new file. */
export interface PatchRequest {
  /** The whole new file. */
  file?: string | null;
  /** A unified diff against the file that was loaded. */
  patch?: string | null;
  /** Why; shown to the owner as the requester's words. */
  reason?: string | null;
}

export interface PendingDecision {
  /** The digest of the row that was seen. Only the owner's bearer token may leave it out. */
  digest?: string | null;
  reason?: string | null;
  /** The revision of the row that was seen; an approval of an older one is refused as `changed`. */
  revision?: number | null;
}

export interface PendingResponse {
  next: string | null;
  pending: Row[];
}

export interface PollNodeRequest {
  /** The commands that it works on or has not been able to report. */
  holding?: string[];
  /** What the node's `void-act` answers to `void-list`; null when it could not. */
  list?: unknown;
  session: SessionMember;
  version?: string;
  /** How long to wait for work; more than 30 is as good as 30. */
  wait_s?: number;
}

export interface PollNodeResponse {
  errands: CommandMember[];
  /** The server's time, by which the node judges whether a ticket has expired. */
  now_ms: number;
  version: string;
}

export interface ProposalsResponse {
  next: string | null;
  proposals: Row[];
}

export interface QuarantineConfirmedResponse {
  confirmed: boolean;
}

export interface QuarantineRemoved {
  removed: boolean;
}

/** Which one, as the list names it. */
export interface QuarantineRequest {
  id: string;
  kind: "token" | "passkey" | "password" | "pair";
}

export interface QuarantineResponse {
  quarantined: Quarantined[];
}

export interface Quarantined {
  id: string;
  /** `token`, `passkey`, `password` or `pair`. */
  kind: "token" | "passkey" | "password" | "pair";
  made_at: string;
  name: string;
  /** When the older copy was noticed. */
  since: string;
}

export interface RecentResponse {
  recent: Row[];
}

export interface RemovedResponse {
  removed: boolean;
  /** What it was: `invited`, `waiting` or `joined`. */
  was: string;
}

export interface ReportNodeRequest {
  /** The answer of the node's `void-act`; null when it ended without one. */
  answer?: unknown;
  /** Whether it is over. */
  ended?: boolean;
  /** The command that this is about. */
  errand: string;
  /** What it said since the last report. */
  lines?: string[];
}

export interface ReportedResponse {
  acknowledged: boolean;
}

export interface RequestedBy {
  id: string | null;
  kind: string;
  name: string;
}

export interface RetriedResponse {
  retried: boolean;
}

export interface RetryRequest {
  /** The turn's message; the newest one if left out. */
  message_id?: string | null;
}

export interface RevokedResponse {
  revoked: boolean;
}

/** One proposal as every list, answer and error shows it. */
export interface Row {
  /** null if it is a change. */
  action_id: string | null;
  agent_id: string | null;
  /** What would change, as Void itself found out. */
  change?: Change | null;
  /** What people say instead of the id; unique while the row is open. */
  code: string;
  /** How often it was asked for while it waited. */
  count: number;
  created_at: string;
  /** What would change, in the requester's own words too. */
  diff?: string | null;
  /** What an approval binds. */
  digest: string;
  /**
   * How it is shown: `status` with what it waits for and how its check ended. Every surface has the same words for it.
   */
  display_state: 
    | "waiting"
    | "starting"
    | "waits_for_target"
    | "held_by_freeze"
    | "running"
    | "being_checked"
    | "verified"
    | "check_failed"
    | "unconfirmed"
    | "failed"
    | "unknown"
    | "rejected"
    | "expired"
    | "lapsed"
    | "withdrawn"
    | "refused";
  error: RowError | null;
  expires_at: string;
  id: string;
  /** What it said when it asked for the same again, where that differs. */
  joined: Words[];
  label: string;
  params: Record<string, ParamValue>;
  /** The requester's own words. */
  reason: string | null;
  requested_by: RequestedBy;
  resolved_at: string | null;
  resolved_by: string | null;
  /** What came back. An agent gets its typed members only: what a machine printed is for people. */
  result: RunResult | null;
  /** Rises whenever a later request changes what a person should read before a yes. */
  revision: number;
  /** `nominal`, `guarded` or `critical`. */
  risk: "nominal" | "guarded" | "critical";
  /** pending, approved, running, executed, failed, rejected, expired, cancelled, unknown or refused. */
  status: 
    | "pending"
    | "approved"
    | "running"
    | "executed"
    | "failed"
    | "rejected"
    | "expired"
    | "cancelled"
    | "unknown"
    | "refused";
  /** `action` or `change`. */
  subject: "action" | "change";
  /** Foreign content that the requester had read. */
  taint: string[];
  /** `safe` or `risky`. */
  tier: "safe" | "risky";
  /**
   * Whether a message about it arrived: `not_yet`, `somebody`, or `nobody` (no way has worked so far). Absent where
   * there is no way to send one.
   */
  told?: "not_yet" | "somebody" | "nobody" | null;
  transitions: Transition[];
  /** null, `verified`, `failed` or `unverified`. */
  verification: "verified" | "failed" | "unverified" | null;
  /** How many later requests said something else that is not kept here; the record has how it begins. */
  words_left_out: number;
}

export interface RowError {
  code: string;
  /** The command that prints what puts it right on the machine, where one does: `void provision local`. */
  mended_by?: string | null;
  message: string;
}

/** One proposal as every list, answer and error shows it. */
export interface RowItem {
  /** null if it is a change. */
  action_id: string | null;
  agent_id: string | null;
  /** What would change, as Void itself found out. */
  change?: Change | null;
  /** What people say instead of the id; unique while the row is open. */
  code: string;
  /** How often it was asked for while it waited. */
  count: number;
  created_at: string;
  /** What would change, in the requester's own words too. */
  diff?: string | null;
  /** What an approval binds. */
  digest: string;
  /**
   * How it is shown: `status` with what it waits for and how its check ended. Every surface has the same words for it.
   */
  display_state: 
    | "waiting"
    | "starting"
    | "waits_for_target"
    | "held_by_freeze"
    | "running"
    | "being_checked"
    | "verified"
    | "check_failed"
    | "unconfirmed"
    | "failed"
    | "unknown"
    | "rejected"
    | "expired"
    | "lapsed"
    | "withdrawn"
    | "refused";
  error: RowError | null;
  expires_at: string;
  id: string;
  /** What it said when it asked for the same again, where that differs. */
  joined: Words[];
  /** `proposal`: waits for a decision. `failure`: nobody knows whether it ran. */
  kind: "proposal" | "failure";
  label: string;
  params: Record<string, ParamValue>;
  /** The requester's own words. */
  reason: string | null;
  requested_by: RequestedBy;
  resolved_at: string | null;
  resolved_by: string | null;
  /** What came back. An agent gets its typed members only: what a machine printed is for people. */
  result: RunResult | null;
  /** Rises whenever a later request changes what a person should read before a yes. */
  revision: number;
  /** `nominal`, `guarded` or `critical`. */
  risk: "nominal" | "guarded" | "critical";
  /** pending, approved, running, executed, failed, rejected, expired, cancelled, unknown or refused. */
  status: 
    | "pending"
    | "approved"
    | "running"
    | "executed"
    | "failed"
    | "rejected"
    | "expired"
    | "cancelled"
    | "unknown"
    | "refused";
  /** `action` or `change`. */
  subject: "action" | "change";
  /** Foreign content that the requester had read. */
  taint: string[];
  /** `safe` or `risky`. */
  tier: "safe" | "risky";
  /**
   * Whether a message about it arrived: `not_yet`, `somebody`, or `nobody` (no way has worked so far). Absent where
   * there is no way to send one.
   */
  told?: "not_yet" | "somebody" | "nobody" | null;
  transitions: Transition[];
  /** null, `verified`, `failed` or `unverified`. */
  verification: "verified" | "failed" | "unverified" | null;
  /** How many later requests said something else that is not kept here; the record has how it begins. */
  words_left_out: number;
}

export interface Run {
  code: string;
  /** As on a row. */
  display_state: 
    | "waiting"
    | "starting"
    | "waits_for_target"
    | "held_by_freeze"
    | "running"
    | "being_checked"
    | "verified"
    | "check_failed"
    | "unconfirmed"
    | "failed"
    | "unknown"
    | "rejected"
    | "expired"
    | "lapsed"
    | "withdrawn"
    | "refused";
  id: string;
  started_at: string | null;
  status: string;
  /** From its start to its end. */
  took_ms: number | null;
  verification: string | null;
}

export interface RunRequest {
  /** What would change, as text; shown to the owner as the requester's words. */
  diff?: string | null;
  /** The action's parameters, if it declares any: `/api/actions` names them, and others are refused. */
  params?: Record<string, unknown> | null;
  /** Why; shown to the owner as the requester's words. */
  reason?: string | null;
}

/** Exactly one of: executed with its result, queued, or not executed (yet) with the status. */
export type RunResponse = {
  action_row_id: string;
  executed: boolean;
  result: RunResult;
} | {
  action_row_id: string;
  queued: boolean;
} | {
  action_row_id: string;
  error?: RowError | null;
  executed: boolean;
  status: string;
};

/** What came back. Which members there are depends on the channel, and others may be there. */
export interface RunResult {
  catalogue?: string | null;
  check?: CheckSeen | null;
  /** The commit that it became; null if it became none. */
  commit?: string | null;
  /** How the command ended. */
  exit?: number | null;
  /** Of a change: what was written, and which file it is for. */
  file?: string | null;
  /** What it said while it ran, line by line. */
  progress?: string[] | null;
  stderr?: string | null;
  stdout?: string | null;
}

export interface SayRequest {
  /** What the owner says, in Markdown; something that can be seen. */
  text: string;
}

export interface Service {
  /** `http`, `tcp` or `guest`. */
  check: string;
  checked_at: string | null;
  detail: ServiceDetail | null;
  /** It changes so often that changes are believed late. */
  flapping: boolean;
  /** The host, or the node of its guest. */
  host: string | null;
  id: string;
  interval_s: number;
  label: string;
  node: string | null;
  /** Since when it is so. */
  since: string | null;
  /** up, down or unknown. A reading that is too old says unknown. */
  status: "up" | "down" | "unknown";
  /** Set while it is down because the owner stopped what it is on, for a day at most: no worry. */
  stopped: Stopped | null;
  /** That it is down is told at any hour. */
  urgent: boolean;
  vmid: number | null;
}

export interface ServiceChange {
  at: string;
  from: "up" | "down" | "unknown";
  reason: string | null;
  to: "up" | "down" | "unknown";
}

/** What the last look saw. Never what a service wrote. */
export interface ServiceDetail {
  /** The HTTP status. */
  code: number | null;
  latency_ms: number | null;
  /**
   * A stable word, if the answer was not good: refused, unreachable, timed_out, reset, wrong_status, not_http, stopped,
   * unknown_name, certificate, proxmox or local; stale if nobody has looked for too long.
   */
  reason: string | null;
}

export interface ServiceWithHistoryResponse {
  /** The moment of this answer. */
  at: string;
  /** `http`, `tcp` or `guest`. */
  check: string;
  checked_at: string | null;
  detail: ServiceDetail | null;
  /** It changes so often that changes are believed late. */
  flapping: boolean;
  /** The changes of the last day, oldest first. */
  history: ServiceChange[];
  /** The host, or the node of its guest. */
  host: string | null;
  id: string;
  interval_s: number;
  label: string;
  node: string | null;
  /** Since when it is so. */
  since: string | null;
  /** up, down or unknown. A reading that is too old says unknown. */
  status: "up" | "down" | "unknown";
  /** Set while it is down because the owner stopped what it is on, for a day at most: no worry. */
  stopped: Stopped | null;
  /** That it is down is told at any hour. */
  urgent: boolean;
  vmid: number | null;
}

export interface ServicesResponse {
  /** The moment of this answer, for the age of readings. */
  at: string;
  services: Service[];
}

export interface SessionMember {
  /** Each start of the node's program counts one further. */
  generation: number;
  nonce: string;
}

/** Exactly one of its members. */
export interface SessionRequest {
  passkey?: {
    /** Which challenge it answers. */
    challenge: string;
    /** The JSON of the credential that the browser got. */
    credential: Record<string, unknown>;
  };
  password?: string;
  /** The code of a set-up link. */
  setup?: string;
  /** The owner's token. */
  token?: string;
}

export interface SessionResponse {
  expires_at: string;
  /** `token`, `password`, `setup` or `passkey`. */
  method: string;
}

export interface SessionsResponse {
  sessions: ListedSession[];
}

export interface SettleRequest {
  /** `executed` or `failed`. */
  outcome: "executed" | "failed";
}

/** How far the owner has come in setting things up. */
export interface Setup {
  actions_loaded: boolean;
  /** How the program is called where Void runs: every command that begins with `void` begins with this instead. */
  called: string;
  /** What checks a file that was written and takes it over, as the owner types it where Void runs. */
  commands: string[];
  /** Something ended that somebody had decided. */
  decided_once: boolean;
  /** The files that say nothing yet. */
  empty_files: EmptyFile[];
  /** Something of the catalogue has a way to its machine, and this machine, if it is named, was set up. */
  lab_connected: boolean;
  /** The file with the owner's token on Void's machine; null where the settings have it elsewhere. */
  owner_token_file: string | null;
  phone_paired: boolean;
  /** The program alone, as it is called there: its path, or its name where the shell finds it. */
  program: string;
  /**
   * What prints the script that lets this machine run its actions, while it was never run: none of them can start.
   */
  provision: string | null;
}

export interface SetupLinkResponse {
  /** The same link for other machines, the likeliest first; empty if only this one reaches the page. */
  elsewhere: string[];
  expires_at: string;
  /** To be opened once. */
  url: string;
}

export interface StartedResponse {
  /** The message that is being written: `/api/conversations/{id}/stream?messageId=` reads it. */
  assistant_message_id: string;
  conversation_id: string;
}

export interface StatusResponse {
  actions: number;
  /** The time in force. */
  at: string;
  audit_head: string;
  audit_seq: number;
  catalogue_commit: string | null;
  catalogue_digest: string;
  /** Places where the owner is told: paired accounts, a topic, webhooks. */
  channels: number;
  /**
   * How many seconds this machine's clock is ahead of the time in force (less than zero: behind) where Void does not
   * follow it; null where it does.
   */
  clock_ahead_s: number | null;
  /** Another process works under this instance's id: this one starts and settles nothing. */
  displaced: boolean;
  frozen: boolean;
  /** Who froze, why as far as the caller may read it, and when it ends by itself. */
  frozen_by: string | null;
  frozen_reason: string | null;
  frozen_until: string | null;
  /** What this instance is called, and every instance that works on the database now. */
  instance: string;
  instances: string[];
  /** Machines that ask to join and wait for the owner. */
  joins: number;
  /** What is not told for a time. */
  mutes: number;
  /** Nodes that have joined, and those of them that poll now. */
  nodes: number;
  nodes_here: number;
  /** Credentials of an older copy that wait for the owner's confirmation. */
  quarantined: number;
  /** Everything behind this is a simulated lab. */
  rehearsal: boolean;
  running: number;
  /** Down, and nobody wanted that. */
  services_down: number;
  /** Down because the owner stopped what they are on. */
  services_stopped: number;
  /** Nothing is known of them now. */
  services_unknown: number;
  /** Down, and nobody could be told: no way worked, or there is none. */
  services_untold: number;
  services_up: number;
  storage: Storage;
  /** Outcomes that nobody knows. */
  unknown: number;
  /** Proposals that wait and that nobody could be told about. */
  untold: number;
  version: string;
  waiting: number;
}

export interface StepResponse {
  args_summary: string;
  /** The proposal that it made or asked about. */
  proposal_id: string | null;
  /** The beginning of what came back. */
  result: string | null;
  /** `ok`, `denied` (a request that was refused) or `error`. */
  status: string;
  /** None of the following is kept for turns of older versions. */
  took_ms: number | null;
  tool: string;
}

/** Who stopped it, and when. */
export interface Stopped {
  at: string;
  by: "owner";
}

/** How large what grows is, and for how long each kind of it is kept. A few seconds old at most. */
export interface Storage {
  database_bytes: number;
  /** For how many days each kind is kept after it is over. */
  kept_days: Record<string, number>;
  /** By table; the audit's are kept for ever. */
  rows: Record<string, number>;
  /** SQLite's log of what is not in the file yet. Absent with PostgreSQL, whose log is its server's. */
  wal_bytes: number | null;
}

export interface TestRequest {
  /** One place, as the list spells it; all of them if left out. */
  target?: string | null;
}

export interface TestResponse {
  results: NotificationTest[];
}

export interface TokenRequest {
  /** A list of names, or a map of names to true. */
  capabilities?: Array<"read" | "act" | "suggest" | "audit.read"> | Record<string, boolean> | null;
  /** `agent`, `viewer` or `node`. */
  kind: "agent" | "viewer" | "node";
  name: string;
  /** Bring back the withdrawn agent of this name: the same one, with these capabilities. */
  restore?: boolean;
}

export interface TokenResponse {
  /** Whose it is, if it is an agent's: `agent_id` of the rows that the agent asked for. */
  agent_id: string | null;
  capabilities: string[];
  created_at: string;
  id: string;
  kind: string;
  name: string;
  /** It came back with an older copy of the database, and opens nothing until the owner confirms it. */
  quarantined: boolean;
  revoked_at: string | null;
}

export interface TokensResponse {
  tokens: TokenResponse[];
}

export interface Transition {
  at: string;
  by: string;
  from: string | null;
  to: string;
}

export interface TrustRequest {
  /** `SHA256:…`, as `ssh-keygen -lf` prints it on the host. */
  fingerprint: string;
}

export interface TrustedResponse {
  fingerprint: string;
  name: string;
}

export interface TruthItemResponse {
  action_id: string;
  code: string;
  /** The proposal; empty for a request that did not become one. */
  id: string;
  label: string;
  reason: string | null;
  status: string;
}

export interface TruthResponse {
  /** What became of earlier proposals that the turn only looked at. */
  before?: TruthResponse | null;
  ran: TruthItemResponse[];
  refused: TruthItemResponse[];
  unverified: TruthItemResponse[];
  waits: TruthItemResponse[];
}

export interface Turn {
  brain: string;
  ended_at: string | null;
  error: TurnFailure | null;
  model: string;
  /** running, done, stopped or failed. */
  status: string;
  /** What was read that a stranger could have written. */
  tainted_by: string[];
  trace: StepResponse[];
  truth: TruthResponse;
  /** The same in words; the server says it, not the model. */
  truth_line: string;
  usage: UsageResponse;
}

export interface TurnFailure {
  code: string;
  message: string;
}

export interface UnmutedResponse {
  unmuted: boolean;
}

export interface UnpairedResponse {
  unpaired: boolean;
}

export interface UsageResponse {
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_micros: number;
  input_tokens: number;
  output_tokens: number;
}

export interface VerdictMismatch {
  id: string;
  message: string;
  table: string;
}

export interface VerdictProblem {
  message: string;
  seq: number;
}

export interface WarningResponse {
  hint?: string | null;
  line: number;
  message: string;
  /** Where in the file, such as `actions[3].tier`; empty for the whole of it. */
  path: string;
  severity: "warning";
}

export interface WhoResponse {
  capabilities: string[];
  /** Until when the session may approve what is critical and change how the owner signs in. */
  fresh_until?: string | null;
  kind: string;
  name: string;
  /** The browser session, if that is what was shown. */
  session?: OpenSession | null;
}

/** Words of the requester from a later request for the same. */
export interface Words {
  at: string;
  diff: string | null;
  reason: string | null;
}

/** Every call: what is sent, and what is answered. */
export interface Routes {
  "GET /api/actions": { response: ActionsResponse };
  "POST /api/actions/patch": { request: PatchRequest; response: Row };
  "GET /api/actions/pending": { response: PendingResponse };
  "POST /api/actions/pending/{rowId}/approve": { request: PendingDecision; response: Row };
  "POST /api/actions/pending/{rowId}/reject": { request: PendingDecision; response: Row };
  "GET /api/actions/recent": { response: RecentResponse };
  "POST /api/actions/{id}/run": { request: RunRequest; response: RunResponse };
  "GET /api/agents": { response: AgentsResponse };
  "GET /api/agents/{slug}/conversation": { response: ConversationResponse };
  "POST /api/agents/{slug}/conversation": { response: ConversationResponse };
  "GET /api/agents/{slug}/conversations": { response: ConversationsResponse };
  "GET /api/audit": { response: AuditResponse };
  "GET /api/audit-export": { response: string };
  "GET /api/audit-verify": { response: AuditVerdict };
  "GET /api/audit/{seq}": { response: AuditEntry };
  "GET /api/backups": { response: BackupsResponse };
  "POST /api/backups": { response: BackupResponse };
  "GET /api/bridge": { response: BridgeResponse };
  "GET /api/bridge/moves": { response: MovesResponse };
  "GET /api/conversations/{id}/messages": { response: MessagesResponse };
  "POST /api/conversations/{id}/messages": { request: SayRequest; response: StartedResponse };
  "POST /api/conversations/{id}/retry": { request: RetryRequest; response: StartedResponse };
  "POST /api/conversations/{id}/stop": { response: Message };
  "GET /api/conversations/{id}/stream": { response: string };
  "GET /api/doctor": { response: DoctorResponse };
  "GET /api/events": { response: string };
  "DELETE /api/freeze": { response: FreezeResponse };
  "GET /api/freeze": { response: FreezeResponse };
  "POST /api/freeze": { request: FreezeRequest; response: FreezeResponse };
  "GET /api/home": { response: Home };
  "GET /api/hosts": { response: HostsResponse };
  "POST /api/hosts/{name}/check": { response: CheckResponse };
  "POST /api/hosts/{name}/trust": { request: TrustRequest; response: TrustedResponse };
  "GET /api/inbox": { response: InboxResponse };
  "GET /api/lab": { response: LabResponse };
  "GET /api/little-blue": { response: ConversationResponse };
  "POST /api/little-blue/turn": { request: SayRequest; response: string };
  "GET /api/login": { response: LoginResponse };
  "GET /api/mutes": { response: MutesResponse };
  "POST /api/mutes": { request: MuteRequest; response: Mute };
  "DELETE /api/mutes/{id}": { response: UnmutedResponse };
  "POST /api/node/join": { request: JoinNodeRequest; response: JoinedResponse };
  "POST /api/node/poll": { request: PollNodeRequest; response: PollNodeResponse };
  "POST /api/node/report": { request: ReportNodeRequest; response: ReportedResponse };
  "GET /api/nodes": { response: NodesResponse };
  "POST /api/nodes": { request: InviteRequest; response: InvitedResponse };
  "DELETE /api/nodes/{name}": { response: RemovedResponse };
  "POST /api/nodes/{name}/approve": { request: ApproveRequest; response: JoinedResponse };
  "GET /api/notifications": { response: NotificationsResponse };
  "POST /api/notifications/act": { request: ActRequest; response: ActedResponse };
  "POST /api/notifications/failed/{id}/retry": { response: RetriedResponse };
  "POST /api/notifications/pair": { request: PairRequest; response: Invitation };
  "DELETE /api/notifications/pairs/{target}": { response: UnpairedResponse };
  "POST /api/notifications/test": { request: TestRequest; response: TestResponse };
  "GET /api/openapi.json": { response: Record<string, unknown> };
  "GET /api/passkeys": { response: PasskeysResponse };
  "POST /api/passkeys": { request: PasskeyRequest; response: Passkey };
  "POST /api/passkeys/challenge": { response: Challenge };
  "DELETE /api/passkeys/{id}": { response: PasskeyRemovedResponse };
  "DELETE /api/password": { response: PasswordResponse };
  "PUT /api/password": { request: PasswordRequest; response: PasswordResponse };
  "GET /api/pending-changes": { response: PendingResponse };
  "POST /api/pending-changes/{id}/approve": { request: PendingDecision; response: Row };
  "POST /api/pending-changes/{id}/reject": { request: PendingDecision; response: Row };
  "GET /api/proposals": { response: ProposalsResponse };
  "GET /api/proposals/{id}": { response: Row };
  "POST /api/proposals/{id}/cancel": { response: Row };
  "GET /api/proposals/{id}/card": { response: Card };
  "POST /api/proposals/{id}/decide": { request: Decision; response: Row };
  "POST /api/proposals/{id}/settle": { request: SettleRequest; response: Row };
  "GET /api/quarantine": { response: QuarantineResponse };
  "POST /api/quarantine/confirm": { request: QuarantineRequest; response: QuarantineConfirmedResponse };
  "POST /api/quarantine/remove": { request: QuarantineRequest; response: QuarantineRemoved };
  "GET /api/services": { response: ServicesResponse };
  "GET /api/services/{id}": { response: ServiceWithHistoryResponse };
  "DELETE /api/session": { response: ClosedResponse };
  "GET /api/session": { response: WhoResponse };
  "POST /api/session": { request: SessionRequest; response: SessionResponse };
  "POST /api/session/challenge": { response: Challenge };
  "POST /api/session/confirm": { request: ConfirmRequest; response: ConfirmedResponse };
  "GET /api/sessions": { response: SessionsResponse };
  "DELETE /api/sessions/{id}": { response: RevokedResponse };
  "POST /api/setup-links": { response: SetupLinkResponse };
  "GET /api/status": { response: StatusResponse };
  "GET /api/tokens": { response: TokensResponse };
  "POST /api/tokens": { request: TokenRequest; response: NewTokenResponse };
  "DELETE /api/tokens/{id}": { response: RevokedResponse };
  "POST /gateway/anthropic/v1/messages": { request: ForwardRequest; response: string };
  "POST /gateway/anthropic/v1/messages/count_tokens": { request: ForwardRequest; response: Record<string, unknown> };
  "GET /health": { response: HealthResponse };
  "GET /healthz": { response: HealthResponse };
  "GET /mcp": { response: string };
  "POST /mcp": { request: McpRequest; response: McpResponse };
  "GET /metrics": { response: string };
  "GET /readyz": { response: HealthResponse };
}

/** The data of every stored event, by its name. */
export interface Events {
  "access.revoked": {
    quarantine?: boolean;
    session?: string;
    sessions?: number;
    token?: string;
  };
  "freeze.changed": {
    by?: string;
    frozen: boolean;
    reason?: string | null;
    until?: string | null;
  };
  "mute.changed": {
    at: string;
    mute: string;
    subject: string;
    until: string;
    what: "mute.set" | "mute.lifted" | "mute.ended";
  };
  "node.changed": {
    at: string;
    name: string;
    what: string;
  };
  "notification.failed": {
    at: string;
    notification: string;
    proposal_id: string | null;
    target: string;
    why: string;
  };
  "proposal.approved": {
    action_id: string | null;
    at: string;
    code: string;
    id: string;
    label: string;
    revision: number;
    risk: "nominal" | "guarded" | "critical";
    status: string;
    subject: "action" | "change";
    tier: "safe" | "risky";
    verification: "verified" | "failed" | "unverified" | null;
    waited_ms: number;
  };
  "proposal.cancelled": Events["proposal.approved"];
  "proposal.created": Events["proposal.approved"];
  "proposal.executed": Events["proposal.approved"];
  "proposal.expired": Events["proposal.approved"];
  "proposal.failed": Events["proposal.approved"];
  "proposal.joined": Events["proposal.approved"];
  "proposal.refused": Events["proposal.approved"];
  "proposal.rejected": Events["proposal.approved"];
  "proposal.started": Events["proposal.approved"];
  "proposal.unknown": Events["proposal.approved"];
  "proposal.verified": Events["proposal.approved"];
  "service.changed": {
    at: string;
    detail: Record<string, unknown>;
    from: "up" | "down" | "unknown";
    id: string;
    label: string;
    status: "up" | "down" | "unknown";
  };
  "stream.lost": {
    after: number;
    next: number;
  };
  "turn.failed": {
    agent: string;
    at: string;
    code?: string;
    conversation_id: string;
    message_id: string;
  };
  "turn.finished": Events["turn.failed"];
  "turn.started": Events["turn.failed"];
}

/** The data of a turn's events, by its name. */
export interface TurnEvents {
  "block": {
    blocks: Block[];
    finished: number;
    from: number;
    more: string;
  };
  "delta": {
    text: string;
  };
  "done": {
    assistant_message_id: string;
    tainted_by: string[];
    truth: {
      before?: {
        ran: Array<{
          action_id: string;
          code: string;
          id: string;
          label: string;
          reason?: string;
          status: string;
        }>;
        refused: Array<{
          action_id: string;
          code: string;
          id: string;
          label: string;
          reason?: string;
          status: string;
        }>;
        unverified: Array<{
          action_id: string;
          code: string;
          id: string;
          label: string;
          reason?: string;
          status: string;
        }>;
        waits: Array<{
          action_id: string;
          code: string;
          id: string;
          label: string;
          reason?: string;
          status: string;
        }>;
      };
      ran: Array<{
        action_id: string;
        code: string;
        id: string;
        label: string;
        reason?: string;
        status: string;
      }>;
      refused: Array<{
        action_id: string;
        code: string;
        id: string;
        label: string;
        reason?: string;
        status: string;
      }>;
      unverified: Array<{
        action_id: string;
        code: string;
        id: string;
        label: string;
        reason?: string;
        status: string;
      }>;
      waits: Array<{
        action_id: string;
        code: string;
        id: string;
        label: string;
        reason?: string;
        status: string;
      }>;
    };
    truth_line: string;
    usage: {
      cache_read_tokens?: number;
      cache_write_tokens?: number;
      cost_micros?: number;
      input_tokens?: number;
      output_tokens?: number;
    };
  };
  "error": {
    code: string;
    message: string;
  };
  "tool": {
    args_summary: string;
    status: "running" | "ok" | "denied" | "error";
    tool: string;
  };
}
