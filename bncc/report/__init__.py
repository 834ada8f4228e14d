"""Reports of studies: Pareto fronts, recommendations and the HTML page."""
