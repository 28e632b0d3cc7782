-- How many files a space holds, and their bytes, so that a bound costs no walk. What was thrown away is left out.
ALTER TABLE spaces ADD COLUMN attachment_count BIGINT NOT NULL DEFAULT 0 CHECK (attachment_count >= 0);
ALTER TABLE spaces ADD COLUMN attachment_bytes BIGINT NOT NULL DEFAULT 0 CHECK (attachment_bytes >= 0);
UPDATE spaces SET
  attachment_count = (SELECT COUNT(*) FROM attachments AS a WHERE a.space_id = spaces.id AND a.deleted_at IS NULL),
  attachment_bytes = (SELECT COALESCE(SUM(a.size_bytes), 0) FROM attachments AS a WHERE a.space_id = spaces.id AND a.deleted_at IS NULL);
-- The ref whose page or file this is, as it came.
ALTER TABLE attachments ADD COLUMN ref_id TEXT COLLATE "C" REFERENCES refs (id);
CREATE INDEX attachments_by_ref ON attachments (ref_id, id) WHERE ref_id IS NOT NULL AND deleted_at IS NULL;
-- Which names stand for the same bytes, and what was thrown away when: for forgetting both.
CREATE INDEX attachments_by_hash ON attachments (hash);
CREATE INDEX attachments_deleted ON attachments (deleted_at, id) WHERE deleted_at IS NOT NULL;
