"""The pages of `crosstown web`: runs, tables, bots and matches, read from the run folders. Reads only.

`make_app` in `app` is the whole application; the rest is one module per thing that is shown. Everything that a bot or
a file brought in is text: escaped by the templates, cleaned of control and direction characters, never a path.
"""
