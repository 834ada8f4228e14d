"""The frozen integer model, its reference evaluator and its file."""
