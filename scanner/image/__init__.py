"""Loaders: one file an image format, all behind `scanner.image.model.Image`."""
