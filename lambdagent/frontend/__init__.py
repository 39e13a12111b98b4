"""Agent files → surface terms.

Texts come in, never paths: `parse_yaml` reads a text as a tree, `check_config` reads the tree as a
configuration, `build_term` turns that into a term. Each stage reports all that it finds at once.
"""
