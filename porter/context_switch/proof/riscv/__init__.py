"""The same proof on RV32: a decoder and an interpreter of its own, and Unicorn's machine."""
