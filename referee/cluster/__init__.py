"""Many machines: an executor on Dask's `distributed`, and the side of it that plays on each machine.

Dask finds machines, notices lost ones and carries bytes. It knows no bot and no record. Matches run in worker processes
of ours beside Dask's, so that nothing of Dask becomes a bot's lag. Needs the extra `cluster`.
"""
