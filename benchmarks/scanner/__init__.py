"""How fast the scanner is, beside disassemblers, on the libraries that every firmware holds."""
