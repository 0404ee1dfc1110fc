"""Settings of Dask that a cluster needs. They take precedence over the user's own."""

from collections.abc import Mapping
from typing import Any

from distributed import Security

from referee.cluster.peers import Certificates

WORKER_TTL_S = 10.0
"""A machine without any message for this long is lost. Machines report every half second; more than some 50 less
often, and then Dask waits longer."""

CONFIG: Mapping[str, Any] = {
    "distributed.scheduler.allowed-failures": 0,  # what is played again is the runner's to say
    "distributed.scheduler.work-stealing": False,  # the executor names the machine of each match
    "distributed.scheduler.worker-ttl": f"{WORKER_TTL_S}s",
    "distributed.scheduler.active-memory-manager.start": False,  # nothing is there in two copies
    "distributed.scheduler.events-cleanup-delay": "1m",
    "distributed.worker.profile.enabled": False,  # it would take time from bots
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.daemon": False,
    "distributed.comm.timeouts.connect": "10s",
    "distributed.comm.timeouts.tcp": "20s",
    "distributed.comm.retry.count": 0,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.tick.limit": "30s",  # machines of a class at work are slow now and then
    "distributed.diagnostics.nvml": False,
}


def security_of(certificates: Certificates | None) -> Security:
    """What Dask uses for a client, a scheduler or a worker: the same certificate in each role."""
    if certificates is None:
        return Security(require_encryption=False)
    cert, key = str(certificates.cert), str(certificates.key)
    return Security(
        require_encryption=True,
        tls_ca_file=str(certificates.ca),
        tls_client_cert=cert,
        tls_client_key=key,
        tls_scheduler_cert=cert,
        tls_scheduler_key=key,
        tls_worker_cert=cert,
        tls_worker_key=key,
    )
