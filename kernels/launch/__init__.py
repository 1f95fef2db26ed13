"""From a problem and a variant to a launch: configuration, operands, the plan's table, jobs."""
