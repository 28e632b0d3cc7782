-- Whether the owner has ever decided anything is asked with every first page.
CREATE INDEX proposals_approved_risky ON proposals (id) WHERE tier = 'risky' AND approved_at IS NOT NULL;
