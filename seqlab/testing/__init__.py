"""Contract suites for extensions: check_architecture, check_task and check_tokenizer."""
