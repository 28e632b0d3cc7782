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

export interface ActionWithRunbooks {
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
  runbooks: Runbook[];
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

/** An agent that is no more. */
export interface AgentDestroyed {
  /** Where its folder lies, in the data folder. */
  archive: string;
  name: string;
}

export interface AgentLog {
  /** The newest last. An agent wrote them, and they may say anything. */
  lines: AgentLogLine[];
}

export interface AgentLogLine {
  at: string;
  /** Without tokens and control characters. */
  text: string;
}

export interface AgentLooseEnds {
  agent: string;
  /** What it asked and nobody answered yet. */
  asked: Question[];
  /** What it asked for and what waits for the owner. */
  proposals: WaitingProposal[];
  reminders: Reminder[];
  /** What it was asked and did not answer yet. */
  to_answer: Question[];
}

export interface AgentMessage {
  /** How often it was handed out. */
  deliveries: number;
  /** When it was acknowledged, or was found to reach nobody. */
  ended_at: string | null;
  expires_at: string;
  /** `owner`, or the name of an agent; the server says it. */
  from: string;
  id: string;
  /** What the sender calls it; its id, if it did not say. */
  key: string;
  kind: "text" | "wake";
  sent_at: string;
  state: "waiting" | "delivered" | "acknowledged" | "dead";
  /** What the sender had read that a stranger could have written. */
  taint: string[];
  /** An agent's words, which may say anything. Null for a wake. */
  text: string | null;
  to: string;
  /** Why an agent woke itself: `timer`, `file`, `hook` or `job`. Null for a text. */
  wake: string | null;
  /** Why it reaches nobody: `receiver_gone`, `out_of_reach`, `expired` or `never_acknowledged`. Null otherwise. */
  why: string | null;
}

export interface AgentMessageRequest {
  /** Your own name for it: the same send with the same key is one message. */
  key?: string | null;
  text: string;
}

export interface AgentMessageSent {
  message: AgentMessage;
  /** It was there already. */
  repeat: boolean;
}

export interface AgentMoveRequest {
  /** `before` of the answer that was looked at: if the tree is another one by then, nothing is done. */
  commit?: string | null;
  /** Only tells what it would change. */
  dry_run?: boolean;
  /** Under whom it is to stand. */
  parent: string;
}

export interface AgentMoveResponse {
  /** The commit of the tree that it was judged by, and the one that came of it. */
  before: string | null;
  /** How many stand below it and go along. */
  below: number;
  /** Who may do what to whom from then on, and who no longer may. */
  changes: RightsChange[];
  commit: string | null;
  from: string | null;
  /** False: it was only looked at. */
  moved: boolean;
  name: string;
  to: string;
  /** The same in sentences. */
  words: string[];
}

export interface AgentPause {
  name: string;
  paused: boolean;
}

/** How an agent's process stands. */
export interface AgentProcess {
  /** How often it ended unasked in a row; 0 while it runs. */
  failures: number;
  name: string;
  /** The owner paused it: it is not woken and gets no turn. */
  paused: boolean;
  /** Of the process that runs. */
  pid: number | null;
  /** At this instance. */
  state: "stopped" | "starting" | "running" | "asleep" | "crashed" | "given_up";
  /**
   * What is wanted of it: `running`, `stopped`, or `given_up` because it ended unasked too often; null if it was never
   * started.
   */
  wanted: string | null;
  /** How it ended the last time that it ended unasked. */
  why: string | null;
}

export interface AgentWakeRequest {
  cause: "timer" | "file" | "hook" | "job";
}

export interface AgentWakeResponse {
  id: string;
  /** A wake for the same cause waits already. */
  repeat: boolean;
}

/** Somebody was woken. */
export interface AgentWoken {
  name: string;
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

export interface AnswerQuestionRequest {
  /** or the number of an option. */
  option?: number | null;
  /** Words, */
  text?: string | null;
}

export interface ApproveRequest {
  /** The fingerprint that the node shows. */
  fingerprint: string;
}

/** Nothing has to be said. */
export type AskAgain = Record<string, unknown>;

export interface AskQuestionRequest {
  /** Seconds; a day if it is left out. */
  expires_s?: number | null;
  /** One line each, and no two alike. */
  options?: string[];
  text: string;
  /** The agent. */
  to: string;
}

export interface AttachRequest {
  /** Whom to talk to; if nobody is named, who answers in that space. */
  agent?: string | null;
  id: string;
  /** `space`, `project`, `page`, `task`, `ref`, `service` or `action`. */
  kind: "space" | "project" | "page" | "task" | "ref" | "service" | "action";
}

export interface AttachedConversation {
  /** null: about nothing in particular. */
  about: ConversationAbout | null;
  /** The agent's name. */
  agent: string;
  conversation_id: string;
  created_at: string;
  /** If words were looked for: the part of its newest message that has one of them. */
  found: string | null;
  last_at: string;
  messages: number;
  /** How it begins. */
  words: string;
}

/** A conversation, and whom it is with. */
export interface AttachedConversationsResponse {
  /** Those in which something was said, newest first. */
  conversations: AttachedConversation[];
  next: string | null;
}

export interface Attachment {
  created_at: string;
  created_by: string;
  id: string;
  /** What somebody said the bytes are; nothing is believed for it. */
  media_type: string;
  name: string;
  /** Where it is in the folder that it came from. */
  path: string | null;
  /** The ref whose page or file this is, as it came. */
  ref_id: string | null;
  /** Of its bytes, as 64 hex digits. */
  sha256: string;
  size_bytes: number;
  space_id: string;
}

export interface AttachmentDeletedResponse {
  deleted: boolean;
  id: string;
  name: string;
  /** What takes it back: a POST to this path, for 30 days. */
  undo: string;
}

export interface AttachmentsResponse {
  /** Newest first. */
  attachments: Attachment[];
  next: string | null;
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

export interface Backlink {
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  title: string;
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

export interface CallRequest {
  call: number;
}

export interface CanResponse {
  agent: Member;
  capabilities: string[];
  next: string | null;
  /** What each operation is in words, of somebody called it. */
  operations: Operation[];
  /** What it may do to everybody, itself included. */
  over: Rights[];
  /** Withdrawn, it may do nothing. */
  withdrawn: boolean;
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
  /**
   * Of a draft of what the owner keeps: what changes, word by word. null of everything else, and of a deletion. The same
   * as a unified diff is `row.change.diff`.
   */
  difference: Difference | null;
  /** What Void itself saw of the services that this is about, whatever the requester says. */
  evidence: Service[];
  inverse: Inverse | null;
  /**
   * For the owner, of a draft whose base was changed meanwhile: what is there now. It cannot be approved; asking again
   * makes a draft against that.
   */
  moved: MovedBase | null;
  /** An approval needs a login of the last minutes, and this session's is older. */
  needs_login: boolean;
  /** The same once it is over, to follow *has*, *would have* or *may have*. */
  past: string;
  /** Foreign content that the requester had read. */
  read_before: string[];
  row: Row;
  /** The owner's pages about the action, then those about the services that it is about. */
  runbooks: Runbook[];
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
  /** Of knowledge: what it is called and where it is. null of everything else. */
  about: ChangedEntity | null;
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

/** What a change of knowledge is about, in the words of the moment in which it was drafted. */
export interface ChangedEntity {
  space: string | null;
  /** Where it is, or will be; null of a new space. */
  space_id: string | null;
  /** What it is called before the change; of something new, what it will be called. */
  title: string;
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

export interface ConversationAbout {
  id: string;
  /** `space`, `project`, `page`, `task`, `ref`, `service` or `action`. */
  kind: "space" | "project" | "page" | "task" | "ref" | "service" | "action";
}

export interface ConversationDeletedResponse {
  deleted: boolean;
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
  /** If words were looked for: the part of its newest message that has one of them. */
  found: string | null;
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
  /** Of the proposals, those that are drafts of a change. */
  draft: number;
  failure: number;
  join: number;
  /** Everything that waits for a decision, drafts too. */
  proposal: number;
  /** What agents ask the owner. */
  question: number;
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

export interface DiffSpan {
  /** How it hides: `invisible`, `bidirectional`, `blanks_only`, `look_alike`. */
  hidings?: string[];
  kind: "same" | "added" | "removed";
  text: string;
}

/** All that a draft changes, made from the patch that the digest binds. Nothing is left out of it. */
export interface Difference {
  /** How something of it hides from a reader, in words; empty if nothing does. */
  hidden: string[];
  parts: DifferencePart[];
  /** In how many places something changes, over all parts. */
  places: number;
  words_added: number;
  words_removed: number;
}

/** Lines that change, with some around them that stay. Title and properties are lines before the text. */
export interface DifferencePart {
  /** What was compared: `words`, `lines`, or the `whole` of the part. */
  grain: "words" | "lines" | "whole";
  /** The line with which it begins before the change, from 1. */
  line: number;
  /** In their order. Their `text` is as it is to be shown: what would not be seen in it is escaped as `\\u{…}`. */
  spans: DiffSpan[];
}

export interface DoctorResponse {
  at: string;
  findings: Finding[];
  /** Nothing is a problem; there may be warnings. */
  ok: boolean;
}

export interface Draft {
  /** The revision that was read; whichever is there now, if left out. */
  base_revision?: number | null;
  /** Changes of its text, one after the other; each has to be found exactly once. */
  edits?: DraftEdit[];
  /** `page`, `task`, `ref`, `project` or `space`. */
  entity: "page" | "task" | "ref" | "project" | "space";
  /** What it is to say; what is left out stays. */
  fields?: DraftFields | null;
  /** Which one; of something new, none. */
  id?: string | null;
  /** `create`, `update` or `delete`. */
  op: "create" | "update" | "delete";
  /** Why; the owner sees it as the words of whoever drafts. */
  reason?: string | null;
}

/** Drafts that are decided alike, each for itself: one that cannot be decided holds up none of the others. */
export interface DraftDecisions {
  /** `approve` or `reject`. */
  decision: "approve" | "reject";
  /** In the order in which they are decided. */
  drafts: SeenDraft[];
  /** Of a rejection; it stands with each of them. */
  reason?: string | null;
}

export interface DraftEdit {
  find: string;
  replace: string;
}

/** Which of them a kind has, its own requests say. */
export interface DraftFields {
  /** null: nobody in particular. */
  agent?: string | null;
  body?: string | null;
  /** null: no day. */
  due?: string | null;
  /** null: it is in no folder. */
  path?: string | null;
  /** null: none. */
  project_id?: string | null;
  /** `open`, `done` or `dropped`. */
  state?: "open" | "done" | "dropped" | null;
  tags?: string[] | null;
  title?: string | null;
  url?: string | null;
}

export interface DraftOrigin {
  agent: string;
  proposal_id: string;
  /** Foreign content that the agent had read. */
  taint: string[];
}

/** Why one was not decided, as any other error. */
export interface DraftRefusal {
  /** Stable; what a program decides by. */
  code: string;
  conflicts?: MergeConflict[];
  conflicts_left_out?: number | null;
  /** A way out. */
  hint?: string | null;
  /** A sentence for people. */
  message: string;
  /** What is there now instead of what it was made of. */
  moved?: MovedBase | null;
  /** How it stands now. */
  row?: Row | null;
}

/** What became of one: its row as it is now, or why it was not decided. */
export interface DraftResult {
  error: DraftRefusal | null;
  id: string;
  row: Row | null;
}

export interface DraftResults {
  /** In the order of the request. */
  results: DraftResult[];
}

/** Drafts of one turn can be decided together. */
export interface DraftTurn {
  conversation_id: string;
  /** The agent's message that the turn wrote. */
  message_id: string;
}

/** A draft with the owner's own words in it. */
export interface EditedApproval {
  /** The digest of the row that was seen. */
  digest: string;
  /** What is stored instead of what was drafted; what is left out stays as drafted. */
  fields: {
    /** null: nobody in particular. */
    agent?: string | null;
    body?: string | null;
    /** null: no day. */
    due?: string | null;
    /** null: it is in no folder. */
    path?: string | null;
    /** null: none. */
    project_id?: string | null;
    /** `open`, `done` or `dropped`. */
    state?: "open" | "done" | "dropped" | null;
    tags?: string[] | null;
    title?: string | null;
    url?: string | null;
  };
  /** The revision of the row that was seen, 0 if left out. */
  revision?: number | null;
}

/** Vectors of what the owner keeps. */
export interface Embeddings {
  chunks: number;
  /** What is in the way: a stable word, and a sentence. */
  code?: string | null;
  /** Texts that have vectors, of all texts. */
  done: number;
  memory_bytes: number;
  message?: string | null;
  /** Texts of which none could be made. */
  skipped: number;
  /** `starting`, `making`, `ready`, or `waiting` until what is in the way is gone. */
  state: "starting" | "making" | "ready" | "waiting";
  total: number;
}

/** A file that is read and has nothing in it, or is not there. */
export interface EmptyFile {
  /** Something valid to put into it. */
  example: string;
  path: string;
  /** `actions` or `services`. */
  what: string;
}

export interface EntityDeletedResponse {
  deleted: boolean;
  deleted_at: string;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  title: string;
  /** What takes it back: a POST to this path. */
  undo: string;
}

export interface Error {
  error: {
    code: string;
    conflicts?: MergeConflict[];
    conflicts_left_out?: number;
    fields?: Record<string, string>;
    hint?: string;
    message: string;
    moved?: MovedBase;
    row?: Row | Space | Project | Page | Task | Ref;
  };
}

/** All of a conversation, to be kept elsewhere. */
export interface ExportedConversation {
  about: ConversationAbout | null;
  agent: string;
  conversation_id: string;
  created_at: string;
  /** Oldest first. */
  messages: ExportedMessage[];
  space_id: string | null;
}

export interface ExportedMessage {
  /** Markdown. */
  body: string;
  created_at: string;
  id: string;
  /** `user` or `assistant`. */
  role: string;
  seq: number;
  /** Of an assistant's message: the turn that made it. */
  turn: Turn | null;
}

export interface FailedNotification {
  created_at: string;
  error: string | null;
  id: string;
  proposal_id: string | null;
  target: string;
  tries: number;
}

export interface FileAnswer {
  call: number;
  file: FileOutcome;
}

export interface FileEntry {
  bytes: number;
  kind: FileKind;
  name: string;
}

export type FileFailure = 
  | "not_found" | "not_a_file" | "not_a_folder" | "not_text" | "too_large" | "refused"
  | "not_once";

export type FileKind = "file" | "folder" | "other";

/** What the process says came of it. */
export type FileOutcome = {
  entries: FileEntry[];
  more: boolean;
  outcome: "listed";
} | {
  bytes: number;
  outcome: "read";
  text: string;
} | {
  bytes: number;
  outcome: "written";
} | {
  outcome: "failed";
  why: FileFailure;
};

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

/** What an agent above whoever asked, or the owner, put on a row. */
export interface Hold {
  at: string;
  /** The name of an agent, or `owner`. */
  by: string;
  kind: "hold" | "veto" | "annotation";
  /** When the owner lifted it; only a hold is lifted. */
  lifted_at: string | null;
  /** From 1, in the order in which they came. */
  number: number;
  /** What it is, in words of Void. */
  sentence: string;
  /** Foreign content that its writer had read. */
  taint: string[];
  /** The words of whoever did it; null for an agent, which sees that it was done and by whom. */
  words: string | null;
  /** How the words are marked. */
  words_of: string;
}

export interface HoldRequest {
  /** Why, for whoever looks at it and for the record. */
  reason: string;
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

export type ItemResponse = RowItem | JoinItem | QuestionItem;

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

/** What became of the bookmarks of an export. */
export interface KarakeepImportResponse {
  changed: number;
  created: number;
  /** Whether a text was shortened to what a page may have. */
  cut: boolean;
  /** Nothing was written; the numbers say what would be. */
  dry_run: boolean;
  /** They differ, and were edited or captured here since; they stay as they are here. */
  kept: number;
  /** Files that Karakeep keeps elsewhere, and what has neither words nor an address. */
  left_out: number;
  /** In the file more than once. */
  repeated: number;
  /** They were thrown away here, and stay away. */
  thrown_away: number;
  unchanged: number;
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

/** How much is left out of a row, whose `change`, `diff` and `joined` are shortened then. */
export interface LeftOut {
  /** How many lines the whole change adds. */
  added_lines: number;
  /** Bytes that are not there. */
  bytes: number;
  /** How many lines the whole change removes. */
  removed_lines: number;
  /** How many sentences of the change's `summary` are not there. */
  sentences: number;
}

export interface Link {
  /** The pages of that title, if there are several. */
  candidates: string[];
  /** Whether it names one thing that is there, nothing, or several pages of one title. */
  found: "one" | "none" | "several";
  id: string | null;
  /** Of what was found, or of an address that leads nowhere. */
  kind: "space" | "project" | "page" | "task" | "ref" | "attachment" | null;
  /** What it is called; of nothing and of several, what the text calls it. */
  title: string | null;
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
  /**
   * How the program is called where Void runs, as in `Setup`: said of a rehearsal only, whose folder is no secret.
   */
  called: string | null;
  /** Whether there is a passkey or a password at all. */
  is_set_up: boolean;
  /** What this lab is called. */
  lab: string;
  methods: LoginMethods;
  /** Everything behind this is a simulated lab. */
  rehearsal: boolean;
}

export interface LooseEndsResponse {
  /** Whoever was asked for first, then those below who have something open. */
  agents: AgentLooseEnds[];
  /** What the first one had asked and was answered within the last seven days, newest first. */
  answered: Question[];
  /** There are more below than were looked at. */
  is_cut: boolean;
}

export interface Mailbox {
  agent: string;
  counts: MailboxCounts;
  /** The newest first. */
  messages: AgentMessage[];
  /** The cursor of older ones. */
  next: string | null;
}

/** Of all that is kept, whatever was asked for. */
export interface MailboxCounts {
  acknowledged: number;
  dead: number;
  /** Handed out and not acknowledged. */
  delivered: number;
  waiting: number;
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

export interface Member {
  /** How many generations below the root; null: it has no position. */
  depth: number | null;
  /** `resident`: it lives in the server and has no process of its own. `process`: it has one. */
  kind: "resident" | "process";
  name: string;
  parent: string | null;
}

/** A place that the draft and what is there now both change, each otherwise. */
export interface MergeConflict {
  /** What both were made of. */
  base: string;
  draft: string;
  /** The line of what is there now with which it begins, from 1; title and properties are lines before the text. */
  line: number;
  now: string;
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

/** What is there instead of what a draft was made of; both are shown, and nothing is applied. */
export interface MovedBase {
  /** Markdown, whole. */
  body: string | null;
  /** What was changed since the draft was made, word by word; null if that is not known any more. */
  difference: Difference | null;
  /** It was thrown away; everything else is null then. */
  gone: boolean;
  revision: number | null;
  title: string | null;
  updated_at: string | null;
  updated_by: string | null;
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

export interface NewPage {
  body?: string | null;
  path?: string | null;
  project_id?: string | null;
  reason?: string | null;
  tags?: string[] | null;
  title: string;
}

export interface NewProject {
  body?: string | null;
  reason?: string | null;
  title: string;
}

export interface NewRef {
  body?: string | null;
  project_id?: string | null;
  reason?: string | null;
  tags?: string[] | null;
  /**
   * Without a title and a body the page is captured. With one of them nothing is fetched, and a title that is left out
   * is the address.
   */
  title?: string | null;
  url: string;
}

export interface NewSpace {
  agent?: string | null;
  body?: string | null;
  reason?: string | null;
  title: string;
}

export interface NewTask {
  body?: string | null;
  due?: string | null;
  project_id?: string | null;
  reason?: string | null;
  /** `open`, `done` or `dropped`. */
  state?: "open" | "done" | "dropped" | null;
  tags?: string[] | null;
  title: string;
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

export interface Operation {
  /** The capability without which nobody may. */
  needs: string | null;
  operation: string;
  words: string;
}

/** A page without its text. */
export interface Page {
  backlinks: Backlink[];
  /** The same as a tree of what may be shown of it, if it was asked for. */
  blocks?: Block[] | null;
  /** Markdown. */
  body: string;
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Each target once, in the order of the text. */
  links: Link[];
  /** There are more of one or the other than are told here. */
  links_cut: boolean;
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  /** Where it is in the folder that it came from and goes back to. */
  path: string | null;
  project_id: string | null;
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** Of a space, its own id. */
  space_id: string;
  /** Its own. Of a page that is asked for alone, those of its front matter too. */
  tags: string[];
  title: string;
  updated_at: string;
  updated_by: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

/** What is left out stays as it is. */
export interface PageChange {
  /** The revision that was looked at. */
  base_revision: number;
  body?: string | null;
  /** null: it is in no folder. */
  path?: string | null;
  /** null: none. */
  project_id?: string | null;
  reason?: string | null;
  tags?: string[] | null;
  title?: string | null;
}

/** A page without its text. */
export interface PageHead {
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  /** Where it is in the folder that it came from and goes back to. */
  path: string | null;
  project_id: string | null;
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** Of a space, its own id. */
  space_id: string;
  /** Its own. Of a page that is asked for alone, those of its front matter too. */
  tags: string[];
  title: string;
  updated_at: string;
  updated_by: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

export interface PagesResponse {
  next: string | null;
  /** What was changed last comes first. */
  pages: PageHead[];
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

export interface PreviewRequest {
  /** Markdown. Front matter is for programs, and not shown. */
  text: string | null;
}

export interface PreviewResponse {
  /** What may be shown of it; what it names in that space is a link. */
  blocks: Block[];
}

/** What every entity has, in a list too. */
export interface Project {
  backlinks: Backlink[];
  /** The same as a tree of what may be shown of it, if it was asked for. */
  blocks?: Block[] | null;
  /** Markdown. */
  body: string;
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Each target once, in the order of the text. */
  links: Link[];
  /** There are more of one or the other than are told here. */
  links_cut: boolean;
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** Of a space, its own id. */
  space_id: string;
  title: string;
  updated_at: string;
  updated_by: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

/** What is left out stays as it is. */
export interface ProjectChange {
  /** The revision that was looked at. */
  base_revision: number;
  body?: string | null;
  reason?: string | null;
  title?: string | null;
}

/** What every entity has, in a list too. */
export interface ProjectHead {
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** Of a space, its own id. */
  space_id: string;
  title: string;
  updated_at: string;
  updated_by: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

export interface ProjectsResponse {
  next: string | null;
  /** What was changed last comes first. */
  projects: ProjectHead[];
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

export interface Question {
  /** Set if it was answered. */
  answer: QuestionAnswer | null;
  /** `owner`, or the name of an agent. */
  asked: string;
  asked_at: string;
  /** `owner`, or the name of an agent. */
  asker: string;
  /** For people to say: `Q-` and four characters. */
  code: string;
  ended_at: string | null;
  /** Who answered or took it back, as the record names them. */
  ended_by: string | null;
  expires_at: string;
  id: string;
  /** In this order; the first one is number 1. */
  options: string[];
  status: "open" | "answered" | "cancelled" | "expired";
  /** What the asker had read that a stranger could have written. */
  taint: string[];
  /** The asker's own words, as they came. */
  text: string;
  /** Why it was cancelled: `withdrawn`, `gone` (asker or asked is not there any more) or `older_copy`. */
  why: "withdrawn" | "gone" | "older_copy" | null;
}

export interface QuestionAnswer {
  /** The number of the option that it is. */
  option: number | null;
  /** What whoever answered had read that a stranger could have written. */
  taint: string[];
  text: string;
}

/** An agent asks the owner something. */
export interface QuestionItem {
  /** Set if it was answered. */
  answer: QuestionAnswer | null;
  /** `owner`, or the name of an agent. */
  asked: string;
  asked_at: string;
  /** `owner`, or the name of an agent. */
  asker: string;
  /** For people to say: `Q-` and four characters. */
  code: string;
  ended_at: string | null;
  /** Who answered or took it back, as the record names them. */
  ended_by: string | null;
  expires_at: string;
  id: string;
  kind: "question";
  /** In this order; the first one is number 1. */
  options: string[];
  status: "open" | "answered" | "cancelled" | "expired";
  /** What the asker had read that a stranger could have written. */
  taint: string[];
  /** The asker's own words, as they came. */
  text: string;
  /** Why it was cancelled: `withdrawn`, `gone` (asker or asked is not there any more) or `older_copy`. */
  why: "withdrawn" | "gone" | "older_copy" | null;
}

export interface QuestionsResponse {
  next: string | null;
  /** Newest first. */
  questions: Question[];
}

export interface RecentResponse {
  recent: Row[];
}

/** A ref without its text. */
export interface Ref {
  backlinks: Backlink[];
  /** The same as a tree of what may be shown of it, if it was asked for. */
  blocks?: Block[] | null;
  /** The text that was captured, as Markdown. */
  body: string;
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Each target once, in the order of the text. */
  links: Link[];
  /** There are more of one or the other than are told here. */
  links_cut: boolean;
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  project_id: string | null;
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** The page or file that it was made from, as it came. */
  source: Attachment | null;
  /** Of a space, its own id. */
  space_id: string;
  tags: string[];
  title: string;
  updated_at: string;
  updated_by: string;
  url: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

/** What is left out stays as it is. */
export interface RefChange {
  /** The revision that was looked at. */
  base_revision: number;
  body?: string | null;
  /** null: none. */
  project_id?: string | null;
  reason?: string | null;
  tags?: string[] | null;
  title?: string | null;
  url?: string | null;
}

/** A ref without its text. */
export interface RefHead {
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  project_id: string | null;
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** Of a space, its own id. */
  space_id: string;
  tags: string[];
  title: string;
  updated_at: string;
  updated_by: string;
  url: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

export interface RefsResponse {
  next: string | null;
  /** What was changed last comes first. */
  refs: RefHead[];
}

export interface Reminder {
  /** Who is reminded. */
  agent: string;
  cron: string | null;
  every_s: number | null;
  fired_count: number;
  id: string;
  kind: "once" | "every" | "cron";
  last_fired_at: string | null;
  next_at: string | null;
  set_at: string;
  /** Who set it, as the record names them. */
  set_by: string;
  status: "active" | "done" | "cancelled";
  /** What whoever set it had read that a stranger could have written. */
  taint: string[];
  /** In the words of whoever set it. */
  text: string;
  zone: string | null;
}

export interface ReminderCancelledResponse {
  cancelled: boolean;
}

export interface RemindersResponse {
  /** Active ones, the next one first. */
  reminders: Reminder[];
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

export interface RestoreRequest {
  /** The revision that was looked at; if something else is there now, nothing is restored. */
  base_revision?: number | null;
  /** The revision to go back to; a new one says the same. */
  revision: number;
}

export type ResultChanged = boolean | string;

export interface RetriedResponse {
  retried: boolean;
}

export interface RetryRequest {
  /** The turn's message; the newest one if left out. */
  message_id?: string | null;
}

/** A revision without its text. */
export interface Revision {
  /** Of a space. */
  agent: string | null;
  at: string;
  /** Markdown. */
  body: string;
  /** Who wrote it down, as the record names them. */
  by: string;
  draft: DraftOrigin | null;
  due: string | null;
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  /** Of a page. */
  path: string | null;
  project_id: string | null;
  /** Why, in the writer's words. */
  reason: string | null;
  revision: number;
  /** Of a task. */
  state: string | null;
  tags: string[];
  title: string;
  /** Of a ref. */
  url: string | null;
  vouched_at: string | null;
  vouched_by: string | null;
}

/**
 * What differs between two revisions: by words, and as a unified diff. Title and properties stand before the text.
 */
export interface RevisionDiff {
  from: RevisionHead;
  /** What was compared: `words`, `lines`, or the `whole` that lies between the first and the last difference. */
  grain: "words" | "lines" | "whole";
  /** How something of it hides from a reader, in words; empty if nothing does. */
  hidden: string[];
  /** Put together, those that are not added are the older text, and those that are not removed the newer one. */
  spans: DiffSpan[];
  to: RevisionHead;
  /** null if too much differs for one. */
  unified: string | null;
  words_added: number;
  words_removed: number;
}

/** A revision without its text. */
export interface RevisionHead {
  at: string;
  /** Who wrote it down, as the record names them. */
  by: string;
  draft: DraftOrigin | null;
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  /** Why, in the writer's words. */
  reason: string | null;
  revision: number;
  vouched_at: string | null;
  vouched_by: string | null;
}

export interface RevisionsResponse {
  next: string | null;
  /** Newest first. */
  revisions: RevisionHead[];
}

export interface RevokedResponse {
  revoked: boolean;
}

export interface RightShift {
  /** `never`, `with_nod` or `alone`. */
  from: "never" | "with_nod" | "alone";
  operation: string;
  to: "never" | "with_nod" | "alone";
}

/** Every operation is in one of the three lists. */
export interface Rights {
  agent: Member;
  alone: string[];
  /** By how many generations, for an ancestor and a descendant. */
  generations: number | null;
  never: string[];
  /** How the one that acts stands to it: `self`, `ancestor`, `descendant`, `sibling` or `stranger`. */
  relation: "self" | "ancestor" | "descendant" | "sibling" | "stranger";
  with_nod: string[];
}

/** The same for each of `who` over each of `over`. */
export interface RightsChange {
  gains: RightShift[];
  loses: RightShift[];
  over: string[];
  over_count: number;
  who: string[];
  who_count: number;
}

/** One proposal as every list, answer and error shows it. */
export interface Row {
  /** null if it is a change. */
  action_id: string | null;
  /** Of a draft that was asked again, the one that it says again. */
  again_of?: string | null;
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
    | "held_from_above"
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
  /**
   * What agents above whoever asked, and the owner, put on it, oldest first. While a hold of them is not lifted nothing
   * starts, and no yes counts.
   */
  holds: Hold[];
  id: string;
  /** What it said when it asked for the same again, where that differs. */
  joined: Words[];
  label: string;
  /**
   * What is left out of the row's texts: in a list, where its own read and its card have them whole, and for an agent
   * whatever was said after a stranger's text was read, unless it asks for that. Absent where nothing is.
   */
  left_out?: LeftOut | null;
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
  /** Of a draft, the turn in which an agent made it. */
  turn?: DraftTurn | null;
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
  /** Of a draft that was asked again, the one that it says again. */
  again_of?: string | null;
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
    | "held_from_above"
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
  /**
   * The same word stands on all drafts of one turn: they can be shown and decided together. Absent where there is none.
   */
  group?: string | null;
  /**
   * What agents above whoever asked, and the owner, put on it, oldest first. While a hold of them is not lifted nothing
   * starts, and no yes counts.
   */
  holds: Hold[];
  id: string;
  /** What it said when it asked for the same again, where that differs. */
  joined: Words[];
  /**
   * `proposal`: an action that waits for a decision. `draft`: a change that does. `failure`: nobody knows whether it
   * ran.
   */
  kind: "proposal" | "draft" | "failure";
  label: string;
  /**
   * What is left out of the row's texts: in a list, where its own read and its card have them whole, and for an agent
   * whatever was said after a stranger's text was read, unless it asks for that. Absent where nothing is.
   */
  left_out?: LeftOut | null;
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
  /** Of a draft, the turn in which an agent made it. */
  turn?: DraftTurn | null;
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
    | "held_from_above"
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
  /**
   * Of a guest's power: whether anything had to be done. Of a draft of what the owner keeps: `create`, `update` or
   * `delete`.
   */
  changed?: ResultChanged | null;
  check?: CheckSeen | null;
  /** The commit that it became; null if it became none. */
  commit?: string | null;
  /** How the command ended. */
  exit?: number | null;
  /** Of a change: what was written, and which file it is for. */
  file?: string | null;
  id?: string | null;
  /** What was stored, or thrown away: `page`, `task`, `ref`, `project` or `space`. */
  kind?: string | null;
  /** What it said while it ran, line by line. */
  progress?: string[] | null;
  stderr?: string | null;
  stdout?: string | null;
}

/** A page that says that it is about this. */
export interface Runbook {
  /** A stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  /** The first line that names what it is about, from 1; null if none does. */
  line: number | null;
  page_id: string;
  /** That line, word for word. The words are the page's, and nothing in them is Void's. */
  says: string | null;
  /** null for an agent, where a stranger could have written it. */
  title: string | null;
}

/** What a page is about, all of it: what is left out it is not about any more. */
export interface RunbookOf {
  actions?: string[];
  /** The revision that was looked at. */
  base_revision: number;
  services?: string[];
}

export interface SayRequest {
  /** What the owner says, in Markdown; something that can be seen. */
  text: string;
  /** What the owner looks at meanwhile: what "this" and "here" mean. It is kept nowhere. */
  view?: ViewRequest | null;
}

export interface SearchHit {
  /** A stranger could have written it. */
  foreign: boolean;
  id: string;
  kind: 
    | "space"
    | "project"
    | "page"
    | "task"
    | "ref"
    | "service"
    | "action"
    | "agent"
    | "proposal";
  /** Of use only to compare results of one search. */
  score: number;
  /** The part of the text that shows why it was found. */
  snippet: SearchSpan[];
  /** What is in the lab is in no space. */
  space_id: string | null;
  /** Of a task, a service, an action or a proposal: how it stands. */
  state?: string | null;
  /** Empty where a stranger could have written it and the caller is not the owner. */
  title: string;
  /** The title in parts, with the words that were looked for marked. */
  title_spans: SearchSpan[];
}

export interface SearchResponse {
  /** How was looked: by words and by meaning, or by words alone. */
  mode: "hybrid" | "text";
  next: string | null;
  /** The best first. */
  results: SearchHit[];
  /** Why not by meaning. */
  why?: string | null;
}

export interface SearchSpan {
  /** It was looked for. */
  hit: boolean;
  text: string;
}

/** One of them, as it was seen. */
export interface SeenDraft {
  /** The digest of the row that was seen. */
  digest: string;
  /** The id of its proposal. */
  id: string;
  /** The revision of the row that was seen, 0 if left out. */
  revision?: number | null;
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
  /** The owner's pages about it; of those who may not read what the owner keeps, none. */
  runbooks: Runbook[];
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

/** Exactly one of `at`, `every_s` and `cron`. */
export interface SetReminderRequest {
  agent: string;
  /** Once, at this moment in RFC 3339, */
  at?: string | null;
  /** or as five fields of cron say: minute hour day month weekday. */
  cron?: string | null;
  /** or again and again after so many seconds, */
  every_s?: number | null;
  text: string;
  /** The zone of `cron`, such as Europe/Berlin; UTC if it is left out. */
  zone?: string | null;
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

/** What every entity has, in a list too. */
export interface Space {
  /** Who answers beside its pages, if the owner chose somebody. */
  agent: string | null;
  backlinks: Backlink[];
  /** The same as a tree of what may be shown of it, if it was asked for. */
  blocks?: Block[] | null;
  /** Markdown. */
  body: string;
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Each target once, in the order of the text. */
  links: Link[];
  /** There are more of one or the other than are told here. */
  links_cut: boolean;
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  page_count: number;
  /** How much is in it; what was thrown away does not count. */
  project_count: number;
  ref_count: number;
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** Of a space, its own id. */
  space_id: string;
  task_count: number;
  title: string;
  updated_at: string;
  updated_by: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

/** What is left out stays as it is. */
export interface SpaceChange {
  /** null: nobody in particular. */
  agent?: string | null;
  /** The revision that was looked at. */
  base_revision: number;
  body?: string | null;
  reason?: string | null;
  title?: string | null;
}

/** What every entity has, in a list too. */
export interface SpaceHead {
  /** Who answers beside its pages, if the owner chose somebody. */
  agent: string | null;
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** Of a space, its own id. */
  space_id: string;
  title: string;
  updated_at: string;
  updated_by: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

export interface SpacesResponse {
  next: string | null;
  /** What was changed last comes first. */
  spaces: SpaceHead[];
}

export interface StartedResponse {
  /** The message that is being written: `/api/conversations/{id}/stream?messageId=` reads it, by either id. */
  assistant_message_id: string;
  conversation_id: string;
  /** What was said, and is answered. */
  message_id: string;
}

export interface StatusResponse {
  actions: number;
  /** The time in force. */
  at: string;
  /** The hash of the newest entry, for the owner and for viewers; null for agents. */
  audit_head: string | null;
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
  /** How far the vectors for the search by meaning are; absent where they are off. */
  embeddings?: Embeddings | null;
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
  /**
   * What the kernel cannot keep agent processes from, where they start all the same because the owner said so. Empty
   * otherwise.
   */
  open_fences: string[];
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

export interface StepRequest {
  /** What came of the files that the step before asked for: all of them. */
  answers: FileAnswer[];
}

export interface StepResponse {
  args_summary: string;
  /** If the proposal is a draft that it made: what a yes changes, in Void's words. */
  draft_summary: string | null;
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
  /** Of all attachments together; two of the same content take their room once. */
  attachment_bytes: number;
  database_bytes: number;
  /** For how many days each kind is kept after it is over. */
  kept_days: Record<string, number>;
  /** By table; the audit's, revisions and attachments are kept for ever. */
  rows: Record<string, number>;
  /** SQLite's log of what is not in the file yet. Absent with PostgreSQL, whose log is its server's. */
  wal_bytes: number | null;
}

/** The turn that waits for a process, and the pass that is shown with each step of it. */
export interface TakenTurn {
  /** Shown as `x-void-turn`, beside the token of the process. Given once, and worth nothing after the turn. */
  pass: string | null;
  /** Null: none waits. */
  turn: string | null;
}

/** A task without its text. */
export interface Task {
  backlinks: Backlink[];
  /** The same as a tree of what may be shown of it, if it was asked for. */
  blocks?: Block[] | null;
  /** Markdown. */
  body: string;
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** A day: `2026-11-19`. */
  due: string | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Each target once, in the order of the text. */
  links: Link[];
  /** There are more of one or the other than are told here. */
  links_cut: boolean;
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  project_id: string | null;
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** Of a space, its own id. */
  space_id: string;
  /** `open`, `done` or `dropped`. */
  state: "open" | "done" | "dropped";
  tags: string[];
  title: string;
  updated_at: string;
  updated_by: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

/** What is left out stays as it is. */
export interface TaskChange {
  /** The revision that was looked at. */
  base_revision: number;
  body?: string | null;
  /** null: no day. */
  due?: string | null;
  /** null: none. */
  project_id?: string | null;
  reason?: string | null;
  /** `open`, `done` or `dropped`. */
  state?: "open" | "done" | "dropped" | null;
  tags?: string[] | null;
  title?: string | null;
}

/** A task without its text. */
export interface TaskHead {
  created_at: string;
  /** Of what was thrown away. */
  deleted_at: string | null;
  deleted_by: string | null;
  /** Of a draft: who wrote it, and what the writer had read. */
  draft: DraftOrigin | null;
  /** A day: `2026-11-19`. */
  due: string | null;
  /** Whether a stranger could have written it, and the owner has not answered for it. */
  foreign: boolean;
  id: string;
  kind: "space" | "project" | "page" | "task" | "ref";
  /** Where its text came from: `owner`, `import`, `capture` or `draft`. */
  origin: "owner" | "import" | "capture" | "draft";
  project_id: string | null;
  /** The newest one, from 1. A change names it as `base_revision`. */
  revision: number;
  /** Of a space, its own id. */
  space_id: string;
  /** `open`, `done` or `dropped`. */
  state: "open" | "done" | "dropped";
  tags: string[];
  title: string;
  updated_at: string;
  updated_by: string;
  /** When the owner answered for a text of somebody else's. */
  vouched_at: string | null;
  vouched_by: string | null;
}

export interface TasksResponse {
  next: string | null;
  /** What was changed last comes first, or with `order=due` what is due first. */
  tasks: TaskHead[];
}

export interface TestRequest {
  /** One place, as the list spells it; all of them if left out. */
  target?: string | null;
}

export interface TestResponse {
  results: NotificationTest[];
}

/** The owner answers for what the token does from here on. */
export interface TokenClearRequest {
  /** `taint` of the token as it was shown. If it was given something else since, nothing is cleared. */
  taint?: string[] | null;
}

export interface TokenClearedResponse {
  cleared: boolean;
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
  /** What it was given that a stranger could have written. While there is anything, its safe actions wait. */
  taint: string[];
  /** When the last of it was given. */
  tainted_at: string | null;
}

export interface TokensResponse {
  tokens: TokenResponse[];
}

export interface TopologyResponse {
  /** Everybody, parents before their children; then whoever has no position. */
  agents: Member[];
  /** The commit of `meta` that is in force; null while there is none. */
  commit: string | null;
  /** What is wrong with the tree, in words. Whoever is named has no right over anybody. */
  problems: string[];
  /** How the processes stand of those who have one. */
  processes: AgentProcess[];
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
  /** What began it, in words, where nobody spoke. */
  begun_by: string[];
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

export interface TurnCall {
  /** Its number in this step. */
  call: number;
  /** What the process does in its own folders; null: the server does it (`/calls`). */
  file: TurnFile | null;
}

export interface TurnFailure {
  code: string;
  message: string;
}

/** Something to be done with a file of the process's sandbox. */
export interface TurnFile {
  /** Whose folder it is. */
  agent: string;
  bytes_max?: number | null;
  /** Of what is edited: what is there once, and what takes its place. */
  find?: string | null;
  /** Of what is read: the byte to begin at, and how many at most. */
  from?: number | null;
  /** The names that lead to it; none for the folder itself. */
  path: string[];
  replace?: string | null;
  /** Of what is written: all of it. */
  text?: string | null;
  wish: "list" | "read" | "write" | "edit";
}

/** What is to be done next in a turn. */
export interface TurnStep {
  /** What the model wants done, in its order. Each is answered before the next step. */
  calls: TurnCall[];
  /** Nothing: the turn is over. */
  over: boolean;
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

export interface VaultAgreement {
  id: string;
  kind: "page" | "task" | "ref" | "attachment";
  path: string;
  sha256: string;
}

export interface VaultConflict {
  message: string;
  path: string;
  /** A word for programs. */
  reason: string;
}

/** Without `text` and `content` it was thrown away meanwhile. */
export interface VaultContent {
  /** The whole file in base64, where it is not. */
  content: string | null;
  path: string;
  sha256: string | null;
  /** The whole file, where it is text. */
  text: string | null;
}

export interface VaultExport {
  files: VaultWanted[];
}

/** What an export would do. Nothing is removed from a folder. */
export interface VaultExportPlan {
  agree: VaultAgreement[];
  conflicts: VaultConflict[];
  /** Projects are folders; so many texts about one have no file. */
  projects_left_out: number;
  unchanged: number;
  write: VaultWrite[];
}

/** As many files as fit into an answer, from the first on; the others are to be asked for again. */
export interface VaultExportResponse {
  files: VaultContent[];
}

/** What is in a folder. */
export interface VaultFolder {
  /**
   * One text a file: the SHA-256 of its bytes, what it is (`page`, `task`, `ref` or `attachment`) and its path, with a
   * blank between them.
   */
  files: string[];
  /** Files and folders that are there and could not be read: nothing below them is taken for gone. */
  unread?: string[];
}

/** Steps that are done together or not at all. */
export interface VaultImport {
  steps: VaultStep[];
}

/**
 * What an import would do. Steps are to be sent in this order: `gone` (what the owner lets go), `rename`, `agree`, and
 * then the files of `create` and `update`.
 */
export interface VaultImportPlan {
  /** The folder has what Void has, and Void has not noted that. */
  agree: VaultAgreement[];
  /** What changed on both sides: nobody overwrites it. */
  conflicts: VaultConflict[];
  create: VaultPlace[];
  /** Imported before, not edited since, and no longer in the folder. */
  gone: VaultPlace[];
  rename: VaultRename[];
  unchanged: number;
  update: VaultPlace[];
}

export interface VaultImportResponse {
  /** In the order of the steps. */
  outcomes: VaultOutcome[];
}

export interface VaultOutcome {
  /** Of a conflict, and of a file that cannot be taken in. */
  message: string | null;
  outcome: 
    | "created"
    | "updated"
    | "moved"
    | "removed"
    | "agreed"
    | "unchanged"
    | "conflict"
    | "refused";
  path: string;
  /** Of a conflict, a word for programs. */
  reason: string | null;
}

export interface VaultPlace {
  kind: "page" | "task" | "ref" | "attachment";
  path: string;
}

export interface VaultRename {
  from: string;
  to: string;
}

/**
 * `put` has `text` or `content`, `move` has `to`, `agree` has `sha256`, and `kind` and `id` of what has no file yet.
 */
export interface VaultStep {
  /** The file in base64. */
  content?: string;
  id?: string;
  kind?: "page" | "task" | "ref" | "attachment";
  path: string;
  sha256?: string;
  step: "put" | "move" | "remove" | "agree";
  /** The file as it is, if it is UTF-8 without a null character. */
  text?: string;
  to?: string;
}

/** As the plan has it. */
export interface VaultWanted {
  id: string;
  kind: "page" | "task" | "ref" | "attachment";
  path: string;
}

export interface VaultWrite {
  id: string;
  kind: "page" | "task" | "ref" | "attachment";
  path: string;
  /** What the file holds until now; nothing where none is. */
  replaces: string | null;
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

export interface ViewRequest {
  /** Of a screen its name: home, inbox, lab, chat, knowledge, search, audit, settings or more. */
  entityId: string;
  entityType: 
    | "space"
    | "project"
    | "page"
    | "task"
    | "ref"
    | "service"
    | "action"
    | "proposal"
    | "conversation"
    | "agent"
    | "host"
    | "node"
    | "guest"
    | "attachment"
    | "entry"
    | "screen";
}

export interface VouchRequest {
  /** The revision that was read. */
  revision: number;
}

export interface WaitingProposal {
  /** `null` if it is a change. */
  action_id: string | null;
  code: string;
  created_at: string;
  expires_at: string;
  id: string;
  label: string;
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
  "GET /api/actions/{id}": { response: ActionWithRunbooks };
  "POST /api/actions/{id}/run": { request: RunRequest; response: RunResponse };
  "GET /api/agents": { response: AgentsResponse };
  "GET /api/agents/topology": { response: TopologyResponse };
  "POST /api/agents/{name}/destroy": { response: AgentDestroyed };
  "GET /api/agents/{name}/logs": { response: AgentLog };
  "GET /api/agents/{name}/loose-ends": { response: LooseEndsResponse };
  "GET /api/agents/{name}/messages": { response: Mailbox };
  "POST /api/agents/{name}/messages": { request: AgentMessageRequest; response: AgentMessageSent };
  "POST /api/agents/{name}/pause": { response: AgentPause };
  "GET /api/agents/{name}/process": { response: AgentProcess };
  "POST /api/agents/{name}/restart": { response: AgentProcess };
  "POST /api/agents/{name}/resume": { response: AgentPause };
  "POST /api/agents/{name}/start": { response: AgentProcess };
  "POST /api/agents/{name}/stop": { response: AgentProcess };
  "POST /api/agents/{name}/turn": { response: TakenTurn };
  "POST /api/agents/{name}/turns": { response: AgentWoken };
  "POST /api/agents/{name}/turns/{id}/calls": { request: CallRequest; response: TurnStep };
  "POST /api/agents/{name}/turns/{id}/step": { request: StepRequest; response: TurnStep };
  "POST /api/agents/{name}/update": { response: AgentProcess };
  "POST /api/agents/{name}/wake": { request: AgentWakeRequest; response: AgentWakeResponse };
  "GET /api/agents/{slug}/can": { response: CanResponse };
  "GET /api/agents/{slug}/conversation": { response: ConversationResponse };
  "POST /api/agents/{slug}/conversation": { response: ConversationResponse };
  "GET /api/agents/{slug}/conversations": { response: ConversationsResponse };
  "POST /api/agents/{slug}/move": { request: AgentMoveRequest; response: AgentMoveResponse };
  "DELETE /api/attachments/{id}": { response: AttachmentDeletedResponse };
  "GET /api/attachments/{id}": { response: Attachment };
  "GET /api/attachments/{id}/content": { response: string };
  "POST /api/attachments/{id}/undelete": { response: Attachment };
  "GET /api/audit": { response: AuditResponse };
  "GET /api/audit-export": { response: string };
  "GET /api/audit-verify": { response: AuditVerdict };
  "GET /api/audit/{seq}": { response: AuditEntry };
  "GET /api/backups": { response: BackupsResponse };
  "POST /api/backups": { response: BackupResponse };
  "GET /api/bridge": { response: BridgeResponse };
  "GET /api/bridge/moves": { response: MovesResponse };
  "GET /api/conversations": { response: AttachedConversationsResponse };
  "POST /api/conversations": { request: AttachRequest; response: ConversationResponse };
  "DELETE /api/conversations/{id}": { response: ConversationDeletedResponse };
  "GET /api/conversations/{id}/export": { response: ExportedConversation };
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
  "DELETE /api/pages/{id}": { response: EntityDeletedResponse };
  "GET /api/pages/{id}": { response: Page };
  "PUT /api/pages/{id}": { request: PageChange; response: Page };
  "GET /api/pages/{id}/diff": { response: RevisionDiff };
  "POST /api/pages/{id}/restore": { request: RestoreRequest; response: Page };
  "GET /api/pages/{id}/revisions": { response: RevisionsResponse };
  "GET /api/pages/{id}/revisions/{number}": { response: Revision };
  "POST /api/pages/{id}/runbook": { request: RunbookOf; response: Page };
  "POST /api/pages/{id}/undelete": { response: Page };
  "POST /api/pages/{id}/vouch": { request: VouchRequest; response: Page };
  "GET /api/passkeys": { response: PasskeysResponse };
  "POST /api/passkeys": { request: PasskeyRequest; response: Passkey };
  "POST /api/passkeys/challenge": { response: Challenge };
  "DELETE /api/passkeys/{id}": { response: PasskeyRemovedResponse };
  "DELETE /api/password": { response: PasswordResponse };
  "PUT /api/password": { request: PasswordRequest; response: PasswordResponse };
  "GET /api/pending-changes": { response: PendingResponse };
  "POST /api/pending-changes/decide": { request: DraftDecisions; response: DraftResults };
  "POST /api/pending-changes/{id}/approve": { request: PendingDecision; response: Row };
  "POST /api/pending-changes/{id}/reject": { request: PendingDecision; response: Row };
  "DELETE /api/projects/{id}": { response: EntityDeletedResponse };
  "GET /api/projects/{id}": { response: Project };
  "PUT /api/projects/{id}": { request: ProjectChange; response: Project };
  "GET /api/projects/{id}/diff": { response: RevisionDiff };
  "POST /api/projects/{id}/restore": { request: RestoreRequest; response: Project };
  "GET /api/projects/{id}/revisions": { response: RevisionsResponse };
  "GET /api/projects/{id}/revisions/{number}": { response: Revision };
  "POST /api/projects/{id}/undelete": { response: Project };
  "POST /api/projects/{id}/vouch": { request: VouchRequest; response: Project };
  "GET /api/proposals": { response: ProposalsResponse };
  "GET /api/proposals/{id}": { response: Row };
  "POST /api/proposals/{id}/again": { request: AskAgain; response: Row };
  "POST /api/proposals/{id}/annotate": { request: HoldRequest; response: Row };
  "POST /api/proposals/{id}/approve-edited": { request: EditedApproval; response: Row };
  "POST /api/proposals/{id}/cancel": { response: Row };
  "GET /api/proposals/{id}/card": { response: Card };
  "POST /api/proposals/{id}/decide": { request: Decision; response: Row };
  "POST /api/proposals/{id}/hold": { request: HoldRequest; response: Row };
  "POST /api/proposals/{id}/lift": { response: Row };
  "POST /api/proposals/{id}/settle": { request: SettleRequest; response: Row };
  "POST /api/proposals/{id}/veto": { request: HoldRequest; response: Row };
  "GET /api/quarantine": { response: QuarantineResponse };
  "POST /api/quarantine/confirm": { request: QuarantineRequest; response: QuarantineConfirmedResponse };
  "POST /api/quarantine/remove": { request: QuarantineRequest; response: QuarantineRemoved };
  "GET /api/questions": { response: QuestionsResponse };
  "POST /api/questions": { request: AskQuestionRequest; response: Question };
  "POST /api/questions/{id}/answer": { request: AnswerQuestionRequest; response: Question };
  "POST /api/questions/{id}/cancel": { response: Question };
  "DELETE /api/refs/{id}": { response: EntityDeletedResponse };
  "GET /api/refs/{id}": { response: Ref };
  "PUT /api/refs/{id}": { request: RefChange; response: Ref };
  "GET /api/refs/{id}/diff": { response: RevisionDiff };
  "POST /api/refs/{id}/restore": { request: RestoreRequest; response: Ref };
  "GET /api/refs/{id}/revisions": { response: RevisionsResponse };
  "GET /api/refs/{id}/revisions/{number}": { response: Revision };
  "POST /api/refs/{id}/undelete": { response: Ref };
  "GET /api/reminders": { response: RemindersResponse };
  "POST /api/reminders": { request: SetReminderRequest; response: Reminder };
  "DELETE /api/reminders/{id}": { response: ReminderCancelledResponse };
  "GET /api/search": { response: SearchResponse };
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
  "GET /api/spaces": { response: SpacesResponse };
  "POST /api/spaces": { request: NewSpace; response: Space };
  "DELETE /api/spaces/{id}": { response: EntityDeletedResponse };
  "GET /api/spaces/{id}": { response: Space };
  "PATCH /api/spaces/{id}": { request: SpaceChange; response: Space };
  "GET /api/spaces/{id}/attachments": { response: AttachmentsResponse };
  "POST /api/spaces/{id}/attachments": { response: Attachment };
  "GET /api/spaces/{id}/conversation": { response: ConversationResponse };
  "POST /api/spaces/{id}/conversation": { response: ConversationResponse };
  "GET /api/spaces/{id}/diff": { response: RevisionDiff };
  "POST /api/spaces/{id}/drafts": { request: Draft; response: Row };
  "POST /api/spaces/{id}/import/karakeep": { response: KarakeepImportResponse };
  "GET /api/spaces/{id}/pages": { response: PagesResponse };
  "POST /api/spaces/{id}/pages": { request: NewPage; response: Page };
  "POST /api/spaces/{id}/preview": { request: PreviewRequest; response: PreviewResponse };
  "GET /api/spaces/{id}/projects": { response: ProjectsResponse };
  "POST /api/spaces/{id}/projects": { request: NewProject; response: Project };
  "GET /api/spaces/{id}/refs": { response: RefsResponse };
  "POST /api/spaces/{id}/refs": { request: NewRef; response: Ref };
  "POST /api/spaces/{id}/refs/file": { response: Ref };
  "POST /api/spaces/{id}/restore": { request: RestoreRequest; response: Space };
  "GET /api/spaces/{id}/revisions": { response: RevisionsResponse };
  "GET /api/spaces/{id}/revisions/{number}": { response: Revision };
  "GET /api/spaces/{id}/tasks": { response: TasksResponse };
  "POST /api/spaces/{id}/tasks": { request: NewTask; response: Task };
  "POST /api/spaces/{id}/undelete": { response: Space };
  "POST /api/spaces/{id}/vault/export": { request: VaultExport; response: VaultExportResponse };
  "POST /api/spaces/{id}/vault/export-plan": { request: VaultFolder; response: VaultExportPlan };
  "POST /api/spaces/{id}/vault/import": { request: VaultImport; response: VaultImportResponse };
  "POST /api/spaces/{id}/vault/import-plan": { request: VaultFolder; response: VaultImportPlan };
  "POST /api/spaces/{id}/vouch": { request: VouchRequest; response: Space };
  "GET /api/status": { response: StatusResponse };
  "DELETE /api/tasks/{id}": { response: EntityDeletedResponse };
  "GET /api/tasks/{id}": { response: Task };
  "PUT /api/tasks/{id}": { request: TaskChange; response: Task };
  "GET /api/tasks/{id}/diff": { response: RevisionDiff };
  "POST /api/tasks/{id}/restore": { request: RestoreRequest; response: Task };
  "GET /api/tasks/{id}/revisions": { response: RevisionsResponse };
  "GET /api/tasks/{id}/revisions/{number}": { response: Revision };
  "POST /api/tasks/{id}/undelete": { response: Task };
  "POST /api/tasks/{id}/vouch": { request: VouchRequest; response: Task };
  "GET /api/tokens": { response: TokensResponse };
  "POST /api/tokens": { request: TokenRequest; response: NewTokenResponse };
  "DELETE /api/tokens/{id}": { response: RevokedResponse };
  "POST /api/tokens/{id}/clear": { request: TokenClearRequest; response: TokenClearedResponse };
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
  "agent.changed": {
    at: string;
    name: string;
    what: 
      | "agent.started"
      | "agent.stopped"
      | "agent.restarted"
      | "agent.updated"
      | "agent.destroyed"
      | "agent.paused"
      | "agent.resumed"
      | "agent.crashed"
      | "agent.recovered"
      | "agent.given_up";
    why: string | null;
  };
  "freeze.changed": {
    by?: string;
    frozen: boolean;
    reason?: string | null;
    until?: string | null;
  };
  "message.sent": {
    at: string;
    from: string;
    id: string;
    kind: "text" | "wake";
    to: string;
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
  "page.changed": {
    at: string;
    id: string;
    kind: "space" | "project" | "page" | "task" | "ref";
    revision: number;
    space_id: string;
    what: "page.created" | "page.changed" | "page.deleted" | "page.restored" | "page.vouched";
  };
  "project.changed": {
    at: string;
    id: string;
    kind: "space" | "project" | "page" | "task" | "ref";
    revision: number;
    space_id: string;
    what: 
      | "project.created"
      | "project.changed"
      | "project.deleted"
      | "project.restored"
      | "project.vouched";
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
  "proposal.held": Events["proposal.approved"];
  "proposal.joined": Events["proposal.approved"];
  "proposal.refused": Events["proposal.approved"];
  "proposal.rejected": Events["proposal.approved"];
  "proposal.started": Events["proposal.approved"];
  "proposal.unknown": Events["proposal.approved"];
  "proposal.verified": Events["proposal.approved"];
  "question.answered": {
    asked: string;
    asker: string;
    at: string;
    code: string;
    id: string;
    status: "open" | "answered" | "cancelled" | "expired";
  };
  "question.asked": Events["question.answered"];
  "question.cancelled": Events["question.answered"];
  "question.expired": Events["question.answered"];
  "ref.changed": {
    at: string;
    id: string;
    kind: "space" | "project" | "page" | "task" | "ref";
    revision: number;
    space_id: string;
    what: "ref.created" | "ref.changed" | "ref.deleted" | "ref.restored" | "ref.vouched";
  };
  "service.changed": {
    at: string;
    detail: Record<string, unknown>;
    from: "up" | "down" | "unknown";
    id: string;
    label: string;
    status: "up" | "down" | "unknown";
  };
  "space.changed": {
    at: string;
    id: string;
    kind: "space" | "project" | "page" | "task" | "ref";
    revision: number;
    space_id: string;
    what: 
      | "space.created"
      | "space.changed"
      | "space.deleted"
      | "space.restored"
      | "space.vouched";
  };
  "stream.lost": {
    after: number;
    next: number;
  };
  "task.changed": {
    at: string;
    id: string;
    kind: "space" | "project" | "page" | "task" | "ref";
    revision: number;
    space_id: string;
    what: "task.created" | "task.changed" | "task.deleted" | "task.restored" | "task.vouched";
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
  "draft": {
    pending_change_id: string;
    summary: string;
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
