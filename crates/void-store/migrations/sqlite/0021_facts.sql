-- One fact, one row: an entry of the record is the event that its audience hears and the step of the proposal it is about.
-- What was hashed stays as it is. Nobody is told of older entries, so a listener goes on after them; the numbers
-- that events had until now count in no other numbering (numbered_from).
ALTER TABLE audit RENAME TO facts;
ALTER TABLE facts ADD COLUMN audience TEXT;
DROP INDEX audit_by_subject;
CREATE INDEX facts_by_subject ON facts (subject, seq);

ALTER TABLE heads ADD COLUMN told_after INTEGER NOT NULL DEFAULT 0 CHECK (told_after >= 0);
ALTER TABLE heads ADD COLUMN numbered_from INTEGER NOT NULL DEFAULT 0 CHECK (numbered_from >= 0);
UPDATE heads SET told_after = audit_seq, numbered_from = CASE WHEN event_seq = 0 THEN 0 ELSE event_seq + 1 END;
ALTER TABLE heads DROP COLUMN event_seq;

DROP TABLE events;
DROP TABLE transitions;
