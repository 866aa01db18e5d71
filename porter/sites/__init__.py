"""The completeness oracle: every place in the text that a virtual machine can't run as it is."""
