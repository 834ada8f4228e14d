"""Studies as people read them: fronts, what they mean, and one page that holds it all."""
