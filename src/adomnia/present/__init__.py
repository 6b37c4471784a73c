"""What a person looks at: amounts, margins, drawings, tables and pages."""
