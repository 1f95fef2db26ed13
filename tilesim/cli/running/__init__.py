"""Running: on which processes and machines, until when, and who is served meanwhile."""
