"""Tournaments on many machines: an executor on Dask's `distributed`, and the plugin that plays on each machine.

Dask finds machines, detects lost ones and transports bytes. It does not read bots or records. Matches run in worker
processes of Crosstown beside Dask's, so that Dask's work does not become a bot's lag. Needs the extra `cluster`.
"""
