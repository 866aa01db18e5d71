"""`fvmkit init`: a first description from legacy projects, with the evidence for what it says."""
