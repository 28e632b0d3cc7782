-- What later requests for the same said, and how often what a person should read has changed since it was asked.
ALTER TABLE proposals ADD COLUMN joined TEXT;
ALTER TABLE proposals ADD COLUMN revision INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0);
-- A button is good for the revision that was shown with it.
ALTER TABLE notification_keys ADD COLUMN revision INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0);
