"""Source text as bytes: tokens, macros, syntax trees and edits that keep every other byte."""
