"""The command line: one file per command, which parses the options, calls the library and prints the result."""
