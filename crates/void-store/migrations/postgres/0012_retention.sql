-- What policy let each requester run, for the budget per hour.
CREATE INDEX proposals_by_policy ON proposals (requester_id, approved_at) WHERE approved_by = 'policy';
