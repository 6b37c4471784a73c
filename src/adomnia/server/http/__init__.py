"""HTTP: questions, budgets and the ledger as JSON, with an OpenAPI document that is true."""
