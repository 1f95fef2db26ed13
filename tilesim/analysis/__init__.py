"""Analysis of runs: two against each other, many in a table."""
