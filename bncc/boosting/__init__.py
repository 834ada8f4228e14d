"""Boosted decision tables: an additive ensemble grown by gradient boosting, then refitted."""
