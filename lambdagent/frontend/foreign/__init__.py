"""FILES OF OTHER FRAMEWORKS → agent files, and all that an agent file cannot say.

A reader takes texts, never paths, executes nothing, and tells each thing that it leaves out.
"""
