"""Context-switch handlers: from the machine instructions of the project's object to C.

`project.transcribe_project` is the entry point. The road of one handler: assemble -> object_file ->
decode -> lift (into ir) -> dataflow -> webs -> structure -> emit_c; roles says what a function
is, pick derives the cooperative half, source_text and edits put the C in place.
"""
