"""Where everything lies, and which protection regions grant it."""
