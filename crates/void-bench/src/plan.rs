//! How much is measured. The tiny plan is for the test: every measurement, hardly any time.

use std::time::Duration;

/// What can be asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Name {
    /// The disk's flush rate
    Disk,
    /// Queue, approve and run on SQLite, beside the floor and the documents' stack
    Sqlite,
    /// Queue, approve and run on PostgreSQL, beside the documents' stack
    Postgres,
    /// Two instances on one PostgreSQL, beside one
    Instances,
    /// A local action by the real channel, beside starting its program; with --deep over 1,000,000 old tickets
    Local,
    /// The catalogue of 512 actions, and an inbox of 100 items
    Reads,
    /// Verifying and copying a large database, beside hashing and copying its file
    Copies,
    /// Memory of idle event listeners
    Streams,
    /// What is added to a turn: its pieces, its rounds of tools, these beside the vendor's SDK
    Talk,
    /// Appending to the record and verifying it
    Audit,
    /// Start, idle memory and size of the binary
    Process,
    /// Idle nodes, and how soon one starts what was approved
    Nodes,
    /// Tools over MCP, beside minimal servers of the official SDKs
    Mcp,
    /// Searching, writing, saving and listing pages, beside FTS5 and a bare commit; vectors beside a scan of them
    Knowledge,
    /// How two agents stand to each other, the index of the tree, and bringing it in line
    Tree,
    /// With --deep: lists, approvals and a restart over old rows
    Rows,
}

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub disk: Duration,
    pub clients: &'static [usize],
    /// In each of them every side has its turn.
    pub rounds: usize,
    pub round: Duration,
    pub local_clients: &'static [usize],
    /// In the journal of the machine, for the local action once more; none is left out.
    pub old_tickets: u64,
    /// In the database that is verified and copied.
    pub copied_rows: u64,
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
    /// In the space that is searched and listed.
    pub pages: usize,
    pub vector_chunks: &'static [usize],
    pub tree_agents: usize,
    pub reconciled_agents: usize,
}

impl Plan {
    pub(crate) const fn of(deep: bool, tiny: bool) -> Self {
        if tiny {
            return Self::TINY;
        }
        if deep {
            return Self {
                listeners: 10_000,
                old_tickets: 1_000_000,
                copied_rows: 1_000_000,
                pages: 100_000,
                vector_chunks: &[10_000, 100_000, 1_000_000],
                ..Self::FULL
            };
        }
        Self::FULL
    }

    const FULL: Self = Self {
        disk: Duration::from_secs(1),
        clients: &[1, 16, 64, 256],
        rounds: 5,
        round: Duration::from_millis(1_500),
        local_clients: &[1, 16, 64],
        old_tickets: 0,
        copied_rows: 100_000,
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
        pages: 10_000,
        vector_chunks: &[10_000, 100_000],
        tree_agents: 100_000,
        reconciled_agents: 10_000,
    };

    const TINY: Self = Self {
        disk: Duration::from_millis(20),
        clients: &[1, 4],
        rounds: 1,
        round: Duration::from_millis(60),
        local_clients: &[1, 4],
        old_tickets: 100,
        copied_rows: 500,
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
        pages: 100,
        vector_chunks: &[500],
        tree_agents: 500,
        reconciled_agents: 50,
    };
}
