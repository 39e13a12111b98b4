"""Composes the passes: the only place where they meet.

`compiling` turns files into terms and programs, `running` runs them. Two modules, so that what
only compiles does not load what only runs.
"""

from os import environ

from lambdagent.messages import choose, language_of

choose(language_of(environ))
