"""The languages of the compiler as data, and what they exchange with the world.

Nothing here runs a program.
"""
