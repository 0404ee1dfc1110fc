"""Generated from proto/crosstown/v1 by proto/generate.py: do not edit."""
