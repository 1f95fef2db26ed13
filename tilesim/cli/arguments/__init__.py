"""Arguments: what users ask for on the command line, and how it becomes what the library takes."""
