-- Messages in the mailboxes of agents. Text and taint are the sender's; who the sender is says the server.
CREATE TABLE agent_messages (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  sender TEXT COLLATE "C" NOT NULL CHECK (sender = 'owner' OR sender LIKE 'agent-%'),
  receiver TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL CHECK (seq > 0),
  message_key TEXT COLLATE "C" NOT NULL CHECK (length(message_key) BETWEEN 1 AND 64),
  kind TEXT NOT NULL CHECK (kind IN ('text', 'wake')),
  content TEXT NOT NULL CHECK (length(content) > 0),
  taint TEXT NOT NULL,
  sent_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL CHECK (expires_at > sent_at),
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'acknowledged', 'dead')),
  deliveries BIGINT NOT NULL CHECK (deliveries >= 0),
  delivered_at BIGINT,
  ended_at BIGINT,
  dead_reason TEXT CHECK (dead_reason IN ('receiver_gone', 'out_of_reach', 'expired', 'never_acknowledged')),
  noticed_at BIGINT,
  CHECK ((deliveries > 0) = (delivered_at IS NOT NULL)),
  CHECK (state <> 'waiting' OR deliveries = 0),
  CHECK (state NOT IN ('delivered', 'acknowledged') OR deliveries > 0),
  CHECK ((ended_at IS NOT NULL) = (state IN ('acknowledged', 'dead'))),
  CHECK ((dead_reason IS NOT NULL) = (state = 'dead')),
  CHECK (noticed_at IS NULL OR state = 'dead')
);
CREATE UNIQUE INDEX agent_messages_by_place ON agent_messages (receiver, seq);
CREATE UNIQUE INDEX agent_messages_by_key ON agent_messages (sender, message_key);
CREATE INDEX agent_messages_open ON agent_messages (receiver, seq, sender) WHERE ended_at IS NULL;
CREATE INDEX agent_messages_expiring ON agent_messages (expires_at) WHERE ended_at IS NULL;
CREATE INDEX agent_messages_ended ON agent_messages (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX agent_messages_unnoticed ON agent_messages (sender, ended_at) WHERE state = 'dead' AND noticed_at IS NULL;
-- When a sender that sends no more has all sends of a minute again.
CREATE TABLE agent_message_rates (
  sender TEXT COLLATE "C" NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('text', 'wake')),
  spent_until BIGINT NOT NULL,
  PRIMARY KEY (sender, kind)
);
