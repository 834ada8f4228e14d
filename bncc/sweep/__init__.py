"""Many trainings in a study: what each classifier costs, and how often it errs."""
