-- A proposal runs an action or makes a change. A change has no action: its action_id is empty, its params are {}, and
-- its definition says what changes.
ALTER TABLE proposals ADD COLUMN subject TEXT NOT NULL DEFAULT 'action' CHECK (subject IN ('action', 'change'));
