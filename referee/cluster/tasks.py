"""The functions that Dask calls on a machine. They take bytes and give bytes."""

from distributed import get_worker

from referee.cluster.plugin import NAME, MachinePlugin


async def take_bot(content: str, profile: str, parcel: bytes) -> tuple[str, str]:
    """Keep a bot version, with the builds that came with it, and build it if needed: ("", ""), or "unable" and why it
    cannot be built or started on this machine, or "broken" and what is wrong with the machine. `parcel`: see
    `archive.Parcel`."""
    return await _plugin().take(content, profile, parcel)


def _plugin() -> MachinePlugin:
    plugin = get_worker().plugins[NAME]
    assert isinstance(plugin, MachinePlugin)
    return plugin
