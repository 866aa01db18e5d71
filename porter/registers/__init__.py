"""Which register an address is: the system space of Armv7-M, and the shared chip blocks."""
