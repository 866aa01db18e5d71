"""One page that shows a migrated system: what was changed, what it became, what it did."""
