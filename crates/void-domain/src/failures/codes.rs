//! The table of failure codes.

use super::Exit;

/// Makes the enum and its columns from the rows of the one table.
macro_rules! failure_codes {
    ($($variant:ident $text:literal $exit:ident $http:tt $meaning:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FailureCode {
            $($variant,)*
        }

        impl FailureCode {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word, as it is sent and stored.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// One line for people.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                }
            }

            /// How the command line ends with it.
            pub const fn exit(self) -> Exit {
                match self {
                    $(Self::$variant => Exit::$exit,)*
                }
            }

            /// The status of an answer with it; `None`: it is never the code of an answer.
            pub const fn http(self) -> Option<u16> {
                match self {
                    $(Self::$variant => status!($http),)*
                }
            }
        }
    };
}

macro_rules! status {
    (-) => {
        None
    };
    ($status:literal) => {
        Some($status)
    };
}

impl FailureCode {
    /// `None`: a word of another version.
    pub fn parse(text: &str) -> Option<Self> {
        let all = Self::ALL.iter();
        all.copied().find(|code| code.as_str() == text)
    }
}

failure_codes! {
    // Who may, and how it is asked for.
    Unauthenticated "unauthenticated" NotAllowed 401 "no valid credential was sent";
    Forbidden "forbidden" NotAllowed 403 "this caller may not do this";
    OwnerOnly "owner_only" NotAllowed 403 "only the owner does this";
    FreshLoginNeeded "fresh_login_needed" NotAllowed 403 "it may cut the owner off: it needs a proof of the last five minutes";
    SessionNeeded "session_needed" NotAllowed 403 "it is done on the page, by somebody who is signed in there";
    OtherSurfaceNeeded "other_surface_needed" NotAllowed 403 "it is not approved from this surface";
    ForeignOrigin "foreign_origin" NotAllowed 403 "the request comes from another site";
    NotFound "not_found" NotFound 404 "there is no such thing, or it is not this caller's to see";
    UnknownAction "unknown_action" Refused 404 "the catalogue has no such action";
    Invalid "invalid" Usage 422 "the request has members that are wrong; `fields` names them";
    MethodNotAllowed "method_not_allowed" Failed 405 "the address does not take that method";
    TooSlow "too_slow" Failed 408 "the body did not arrive in time";
    TooLarge "too_large" Failed 413 "the body is longer than it may be";
    UnsupportedMediaType "unsupported_media_type" Failed 415 "a body must be JSON and say so";
    UnknownHost "unknown_host" Failed 421 "Void is not known by this name";
    UpgradeLate "upgrade_late" Failed 400 "only the first request of a connection can ask for another protocol";
    RateLimited "rate_limited" Refused 429 "too much at once; `Retry-After` says when again";
    // What is in the way.
    AlreadyDecided "already_decided" Rejected 409 "somebody decided it before";
    Expired "expired" Rejected 409 "its time is over; nothing ran";
    Changed "changed" Refused 409 "it is not what was seen, or not what would run";
    NotOnRecord "not_on_record" Refused 409 "the record does not say what its row says: the row was edited";
    Frozen "frozen" Refused 409 "everything is frozen; nothing new starts";
    Held "held" Refused 409 "an agent above whoever asked holds it, or the owner does; lift it first";
    Paused "paused" Refused 409 "the owner paused this agent; it is not woken and gets no turn";
    CoolingDown "cooling_down" Refused 409 "the action ran a moment ago";
    CapReached "cap_reached" Refused 409 "it was done as often as it may be";
    Busy "busy" Refused 409 "something else is at it, or how the last one ended is not known";
    AmbiguousHost "ambiguous_host" Refused 409 "several instances are there, and the catalogue does not say whose machine it is";
    InstanceAway "instance_away" Refused 409 "it is the machine of an instance that is not there";
    NameTaken "name_taken" Refused 409 "somebody else has this name";
    NameWithdrawn "name_withdrawn" Refused 409 "the name was somebody's who was withdrawn; it is not given again";
    TooMany "too_many" Refused 409 "there are as many as there may be";
    Used "used" Refused 409 "it was used already";
    Superseded "superseded" Refused 409 "another process speaks for this node now";
    NotNeeded "not_needed" Refused 409 "there is nothing to do";
    NotRetryable "not_retryable" Refused 409 "it cannot be tried again";
    NotRunning "not_running" Refused 409 "it does not run";
    NotSetUp "not_set_up" Refused 409 "the channel is not set up";
    BackupsOff "backups_off" Refused 409 "no backups are kept here";
    HostKeyMismatch "host_key_mismatch" Refused 409 "the host shows another key than the one that was named";
    PasskeysUnavailable "passkeys_unavailable" Refused 409 "passkeys do not work here";
    RolledBack "rolled_back" Refused 409 "the database went back to an older state; what waited in it is void";
    TreeBroken "tree_broken" Refused 409 "something is wrong with the tree of agents, and until it is mended nobody is moved";
    // The server's own trouble.
    Internal "internal" Failed 500 "something is wrong inside Void; the log says what";
    Unavailable "unavailable" Unreachable 503 "the database cannot be used right now";
    DiskFull "disk_full" Unreachable 503 "the disk is full; new work is refused until there is room";
    Unconfirmed "unconfirmed" Unreachable 503 "nobody said whether it was recorded; it may have happened";
    Replaced "replaced" Unreachable 503 "the database was replaced by another one";
    Displaced "displaced" Unreachable 503 "another process took over";
    TurnLimit "turn_limit" Failed 400 "the turn has used up what it may use";
    // The way to a machine.
    Unreachable "unreachable" Unreachable 409 "nobody answers there";
    AuthRefused "auth_refused" Unreachable - "the machine does not accept the credential";
    HostKeyUnknown "host_key_unknown" Unreachable - "nobody has compared the host's key yet";
    HostKeyChanged "host_key_changed" Unreachable - "the host shows another key than the trusted one";
    HostKeyRevoked "host_key_revoked" Failed - "the host shows a key that was withdrawn";
    ConnectionLost "connection_lost" Failed - "the connection broke; it may have happened";
    Timeout "timeout" Unreachable - "no answer in time";
    TimedOut "timed_out" Failed - "no answer in time";
    NoAnswer "no_answer" Failed - "it ended without an answer";
    BadAnswer "bad_answer" Failed - "the answer is none that can be believed";
    BadRequest "bad_request" Failed - "the request could not be made";
    BadTicket "bad_ticket" Failed - "the ticket could not be made";
    NotConfigured "not_configured" Failed - "something that is needed for it is not set up";
    WrongCertificate "wrong_certificate" Failed - "the certificate is not the one that is expected";
    CertificateExpired "certificate_expired" Failed - "the certificate is over";
    Redirected "redirected" Failed - "the answer was a redirect, and none is followed";
    OtherInstance "other_instance" Failed - "it is the machine of another instance";
    // What a host says.
    Drift "drift" Failed - "the host's list is not what the catalogue says";
    StoppedOnHost "stopped_on_host" Failed - "the host's stop file is set";
    RefusedByHost "refused_by_host" Failed - "the host refused it";
    CommandFailed "command_failed" Failed - "the command ended badly";
    NothingToReturnTo "nothing_to_return_to" Failed - "there is no earlier version to go back to";
    NoEnd "no_end" Failed - "it began, and no end was recorded";
    NotReadBack "not_read_back" Failed - "it was written, and does not read as it was written";
    NotWritten "not_written" Failed - "the file was not written, and says what it said before";
    NotStarted "not_started" Failed - "it never began, and now never will";
    Unseen "unseen" Failed - "the host has not seen it so far";
    // What Proxmox says.
    NoPrivilege "no_privilege" Failed - "the token may not do this";
    NoSuchGuest "no_such_guest" Failed - "Proxmox shows no such guest";
    NoSuchNode "no_such_node" Failed - "Proxmox knows no such node";
    NodeOffline "node_offline" Failed - "Proxmox cannot reach the node";
    NodeLost "node_lost" Failed - "Proxmox lost the node on the way; it may have happened";
    Locked "locked" Failed - "the guest is locked";
    ProxmoxError "proxmox_error" Failed - "Proxmox refused it";
    TaskFailed "task_failed" Failed - "the task ended badly";
    TaskRunning "task_running" Failed - "the task still runs";
    TaskLost "task_lost" Failed - "the task went on, and how it ended was not seen";
    TaskEndUnknown "task_end_unknown" Failed - "the task is over, and how it ended is not said";
    NoTask "no_task" Failed - "no task of ours so far";
    Forgotten "forgotten" Failed - "the list of tasks may have forgotten it";
    Ambiguous "ambiguous" Failed - "more than one thing could be ours";
    // Pages of the web and foreign files. Every code of `void-capture` is here.
    CaptureUrl "capture_url" Usage 422 "the address is none that is captured from";
    CaptureAddressRefused "capture_address_refused" Usage 422 "the page is at an address that is not fetched from unless the settings allow it";
    CapturePortRefused "capture_port_refused" Usage 422 "the page is at a port that is not of the web unless the settings allow it";
    CaptureHostUnknown "capture_host_unknown" Failed 502 "nobody knows the host of the page";
    CaptureUnreachable "capture_unreachable" Failed 502 "the host of the page does not answer";
    CaptureCertificate "capture_certificate" Failed 502 "the host of the page shows a certificate that is not trusted";
    CaptureRedirects "capture_redirects" Failed 502 "the page leads on and on";
    CaptureStatus "capture_status" Failed 502 "the host answers without a page";
    CaptureTooLarge "capture_too_large" Failed 502 "the page is larger than what is captured";
    CaptureUnsupported "capture_unsupported" Failed 502 "the page is of a kind that is not read here";
    CaptureBroken "capture_broken" Failed 502 "the host broke off, or sent what is no HTTP";
    CaptureTimedOut "capture_timed_out" Failed 502 "the page took longer than a capture may";
    CaptureBusy "capture_busy" Unreachable 503 "too many captures are under way";
    ExtractPdfReaderMissing "extract_pdf_reader_missing" Unreachable 503 "PDFs cannot be read here: poppler-utils is not installed";
    ExtractUnreadable "extract_unreadable" Usage 422 "the file cannot be read; the message says why";
    ExtractNotConfined "extract_not_confined" Unreachable 503 "what reads foreign bytes cannot be confined on this machine, so they are not read";
    ExtractNotStarted "extract_not_started" Unreachable 503 "what reads foreign bytes cannot be started";
    ExtractTimedOut "extract_timed_out" Usage 422 "reading the file took too long";
    ExtractDied "extract_died" Usage 422 "reading the file took more memory or time than it may";
    ExtractGarbled "extract_garbled" Usage 422 "what read the file answered with nothing that makes sense";
    // How it was settled.
    NoEvidence "no_evidence" Failed - "nothing says how it ended";
    SettledFailed "settled_failed" Failed - "the owner looked: it was not done";
    ExecutorFailed "executor_failed" Failed - "the foreign executor says that it failed";
    BridgeOff "bridge_off" Failed - "the file bridge was switched off while it was offered";
    CheckFailed "check_failed" Failed - "it ran, and its check failed";
    Rejected "rejected" Rejected - "the owner said no";
    Withdrawn "withdrawn" Rejected - "it was taken back, or whoever asked was";
    Vetoed "vetoed" Rejected - "an agent above whoever asked said no, or the owner did";
    BaseMoved "base_moved" Refused 409 "what it would change was changed meanwhile; nothing was applied";
    DefinitionChanged "definition_changed" Rejected - "the catalogue changed; what waited is not what would run";
    Restored "restored" Rejected - "the database was restored from an older copy";
    // Tools of agents.
    InvalidArguments "invalid_arguments" Failed - "the arguments of a tool are not as its schema says";
    InvalidParams "invalid_params" Failed - "the parameters are not as the action wants them";
    ReasonTooLong "reason_too_long" Failed - "the reason is too long";
    DiffTooLong "diff_too_long" Failed - "the diff is too long";
    UnknownTool "unknown_tool" Failed - "there is no such tool";
    Limit "limit" Failed - "the turn may not call more tools";
    Over "over" Failed - "the turn is over";
    ForeignWithheld "foreign_withheld" Failed - "what a machine wrote is not handed to this caller";
    Unfit "unfit" Failed - "a file of the bridge that nobody can use";
    // Brains.
    BrainUnreachable "brain_unreachable" Failed 502 "the model cannot be reached";
    BrainTimedOut "brain_timed_out" Failed 502 "the model fell silent";
    BrainBrokeOff "brain_broke_off" Failed 502 "the model's answer ended before its end";
    BrainRateLimited "brain_rate_limited" Failed 502 "the model's server asks to wait";
    BrainOverloaded "brain_overloaded" Failed 502 "the model's server has too much to do";
    BrainFailed "brain_failed" Failed 502 "the model's server has a fault";
    BrainKeyRefused "brain_key_refused" Failed 502 "the model's server does not accept the key";
    BrainOutOfCredit "brain_out_of_credit" Failed 502 "there is no credit left";
    BrainForbidden "brain_forbidden" Failed 502 "the key may not use this model";
    BrainNotFound "brain_not_found" Failed 502 "there is no such model at that address";
    BrainPromptTooLong "brain_prompt_too_long" Failed 502 "the conversation does not fit the model";
    BrainRequestRefused "brain_request_refused" Failed 502 "the model's server does not accept the request";
    BrainBadAnswer "brain_bad_answer" Failed 502 "the model's answer cannot be read";
    BrainAnswerTooLarge "brain_answer_too_large" Failed 502 "the model's answer is longer than it may be";
    // Why there are no vectors of what is kept, or not more of them.
    EmbeddingsOff "embeddings_off" Failed - "vectors are switched off";
    EmbeddingsSlow "embeddings_slow" Unreachable - "the embeddings server takes too long";
    EmbeddingsDown "embeddings_down" Unreachable - "the embeddings server cannot be reached, or broke off";
    EmbeddingsRefused "embeddings_refused" Failed - "the embeddings server refuses";
    EmbeddingsBadAnswer "embeddings_bad_answer" Failed - "the embeddings server answers something else than vectors";
    EmbeddingsDimensions "embeddings_dimensions" Failed - "the vectors are of another length than those that are kept";
    EmbeddingsFailed "embeddings_failed" Failed - "the embeddings model cannot be read or failed";
    // The command line's own.
    Usage "usage" Usage - "the command was used wrongly";
    ConfigInvalid "config_invalid" Config - "a setting or a definition is wrong";
    NotDurable "not_durable" Config - "the database may forget what it confirmed";
    Interrupted "interrupted" Interrupted - "it was stopped before its end";
    NotTyped "not_typed" Interrupted - "the words were not typed; nothing happened";
    NotVoid "not_void" NotVoid - "something answers there, but it is not Void";
    NotUnderstood "not_understood" Failed - "the server's answer is of another version";
    Partial "partial" Partial - "intact, but a part only";
    Damaged "damaged" Failed - "the record is damaged";
    Edited "edited" Failed - "rows are not what the record says";
    Corrupt "corrupt" Failed - "a file or the database cannot be read as what it is";
    Unreadable "unreadable" Failed - "it cannot be read";
    Unwritable "unwritable" Failed - "it cannot be written";
    ReadOnly "read_only" Failed - "it cannot be written";
    NewerSchema "newer_schema" Failed - "the database is of a newer Void";
    InUse "in_use" Failed - "another process uses it";
    OtherCatalogue "other_catalogue" Failed - "the other instances have another catalogue";
    Twin "twin" Failed - "the same instance runs already";
    Listen "listen" Failed - "the address cannot be listened on";
    Rehearsal "rehearsal" Failed - "the simulated lab cannot be set up";
    NotABackup "not_a_backup" Failed - "the file is no backup";
    NoGuests "no_guests" NotFound - "Proxmox shows no guests";
    Nowhere "nowhere" Failed - "there is nobody to tell";
    Off "off" Failed - "it is switched off";
    NotYours "not_yours" Failed - "it belongs to another account";
    Input "input" Failed - "the input cannot be read";
    CutOff "cut_off" Failed - "the answer ended before its end";
    Unknown "unknown" Failed - "the server gave no reason";
}
