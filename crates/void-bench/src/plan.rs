//! How much is measured. The tiny plan is for the test: every measurement, hardly any time.

use std::time::Duration;

/// What can be asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Name {
    /// The disk's flush rate
    Disk,
    /// Queue, approve and run on SQLite, beside the floor
    Sqlite,
    /// Queue, approve and run on PostgreSQL
    Postgres,
    /// Memory of idle event listeners
    Streams,
    /// What is added to a turn: its pieces, its rounds of tools
    Talk,
    /// Appending to the record and verifying it
    Audit,
    /// Start, idle memory and size of the binary
    Process,
    /// Idle nodes, and how soon one starts what was approved
    Nodes,
    /// Tools over MCP, beside minimal servers of the official SDKs
    Mcp,
    /// With --deep: lists, approvals and a restart over old rows
    Rows,
}

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub disk: Duration,
    pub clients: &'static [usize],
    /// Rounds on SQLite, each beside one of the floor.
    pub rounds: usize,
    /// On PostgreSQL there is no floor to compare with.
    pub rounds_postgres: usize,
    pub round: Duration,
    pub listeners: usize,
    /// How long memory may settle before it is read.
    pub settle: Duration,
    /// Pieces of an answer, and of each when many speak at once.
    pub pieces: u32,
    pub pieces_of_many: u32,
    pub talks: usize,
    pub tool_turns: usize,
    pub audit_appends: usize,
    pub audit_entries: u64,
    pub starts: usize,
    pub nodes: usize,
    /// How long idle nodes are watched: every one asks again at least once.
    pub nodes_idle: Duration,
    pub node_starts: usize,
    /// Old rows for the lists, the approvals and the restart.
    pub old_rows: u64,
    pub list_calls: usize,
}

impl Plan {
    pub(crate) const fn of(deep: bool, tiny: bool) -> Self {
        if tiny {
            return Self::TINY;
        }
        if deep {
            return Self {
                listeners: 10_000,
                ..Self::FULL
            };
        }
        Self::FULL
    }

    const FULL: Self = Self {
        disk: Duration::from_secs(1),
        clients: &[1, 16, 64, 256],
        rounds: 3,
        rounds_postgres: 2,
        round: Duration::from_millis(1_500),
        listeners: 1_000,
        settle: Duration::from_secs(3),
        pieces: 400,
        pieces_of_many: 150,
        talks: 200,
        tool_turns: 20,
        audit_appends: 50_000,
        audit_entries: 500_000,
        starts: 7,
        nodes: 500,
        nodes_idle: Duration::from_secs(45),
        node_starts: 50,
        old_rows: 1_000_000,
        list_calls: 200,
    };

    const TINY: Self = Self {
        disk: Duration::from_millis(20),
        clients: &[1, 4],
        rounds: 1,
        rounds_postgres: 1,
        round: Duration::from_millis(60),
        listeners: 10,
        settle: Duration::from_millis(50),
        pieces: 8,
        pieces_of_many: 4,
        talks: 3,
        tool_turns: 1,
        audit_appends: 500,
        audit_entries: 2_000,
        starts: 1,
        nodes: 5,
        nodes_idle: Duration::from_millis(100),
        node_starts: 3,
        old_rows: 2_000,
        list_calls: 3,
    };
}
