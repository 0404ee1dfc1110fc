"""The schedule of a tournament: who meets whom in which seats, on which seed, and what depends on which result.

Pure: no files, no clock, no processes. A schedule is a function of what a run's journal says was configured, of the
organiser's decisions and of results, so the runner and every table compute the same one.
"""
