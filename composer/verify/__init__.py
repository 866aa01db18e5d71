"""Validation of a finished image before it is flashed.

Shares no code with what lays a system out, generates or joins it: an error there must not be
repeated here. What the description says is computed anew, what the image holds is decoded from
its own bytes. import-linter checks it.
"""
