"""From the built domains to one image: checks, then STEM.elf, .hex, .bin and the manifest."""
