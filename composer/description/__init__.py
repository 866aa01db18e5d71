"""The system description: read, validated against the schema and the rules, as frozen values."""
