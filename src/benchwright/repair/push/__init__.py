"""A run into the database: the audit, its refusals, the plan of its row, the writes and their proof."""
