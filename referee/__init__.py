"""The referee: rules, wire, matches, bot processes and tournaments."""
