"""Generated files: one module a subject, texts in templates/."""
