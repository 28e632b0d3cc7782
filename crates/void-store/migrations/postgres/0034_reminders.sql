-- What agents are to be reminded of. `next_at` is when it is due; whoever moves it on has fired it.
CREATE TABLE reminders (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  agent TEXT COLLATE "C" NOT NULL,
  set_by TEXT NOT NULL,
  text TEXT NOT NULL,
  -- What whoever set it had read.
  taint TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('once', 'every', 'cron')),
  once_at BIGINT,
  every_ms BIGINT CHECK (every_ms > 0),
  expression TEXT,
  zone TEXT,
  set_at BIGINT NOT NULL,
  fired_count BIGINT NOT NULL CHECK (fired_count >= 0),
  last_fired_at BIGINT,
  status TEXT NOT NULL CHECK (status IN ('active', 'done', 'cancelled')),
  next_at BIGINT,
  ended_by TEXT,
  ended_at BIGINT,
  CHECK ((kind = 'once') = (once_at IS NOT NULL)),
  CHECK ((kind = 'every') = (every_ms IS NOT NULL)),
  CHECK ((kind = 'cron') = (expression IS NOT NULL)),
  CHECK ((kind = 'cron') = (zone IS NOT NULL)),
  CHECK ((fired_count = 0) = (last_fired_at IS NULL)),
  CHECK ((status = 'active') = (next_at IS NOT NULL)),
  CHECK ((status = 'active') = (ended_at IS NULL)),
  CHECK ((status = 'cancelled') = (ended_by IS NOT NULL))
);
CREATE INDEX reminders_due ON reminders (next_at) WHERE status = 'active';
CREATE INDEX reminders_by_agent ON reminders (agent, set_at);
CREATE INDEX reminders_by_end ON reminders (ended_at) WHERE ended_at IS NOT NULL;
