"""The HTTP door: questions, budgets and books as JSON, with an OpenAPI document that is true."""
