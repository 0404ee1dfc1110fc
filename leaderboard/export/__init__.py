"""A match as one file that needs nothing else: a page to step through, a drawing of a step, a film, or JSON."""
