"""Composer: one system description in; layout, generated files and the linked image out."""
