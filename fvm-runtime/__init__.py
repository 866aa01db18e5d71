"""The C runtime that guests and native processes run on; its files are package data."""
