"""What the porter knows of a project before it reads its code: files, options, domain."""
