"""The functions that Dask calls on a machine. They take bytes and give bytes."""

from distributed import get_worker

from referee.cluster.plugin import NAME, MachinePlugin


async def take_bot(content: str, profile: str, archive: bytes) -> tuple[str, str]:
    """Keep a bot version and build it if needed: ("", ""), or "unable" and why it cannot be built on this machine, or
    "broken" and what is wrong with the machine."""
    return await _plugin().take(content, profile, archive)


def _plugin() -> MachinePlugin:
    plugin = get_worker().plugins[NAME]
    assert isinstance(plugin, MachinePlugin)
    return plugin
