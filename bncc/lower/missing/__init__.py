"""Missing features, marginalized on the device: plans, tables and their C text."""
