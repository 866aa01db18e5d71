"""What the code of an image does, found by following it with partly known values.

Not an emulator: every path is followed, and what can't be known is unknown. What is claimed of a
function holds for all its runs, as long as the code keeps to the procedure call standard, which is
checked on the way.
"""
