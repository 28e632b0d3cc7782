//! `/api/notifications`
