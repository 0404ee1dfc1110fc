"""The functions that Dask calls on a machine. They take bytes and give bytes."""

from distributed import get_worker

from referee.cluster.orders import HandIns
from referee.cluster.plugin import NAME, MachinePlugin


async def take_bot(content: str, profile: str, parcel: bytes, hand_ins: str) -> tuple[str, str]:
    """Keep a bot version, with the builds that came with it, and build it if needed: ("", ""), or "unable" and why it
    cannot be built or started on this machine, or "broken" and what is wrong with the machine. `parcel`: see
    `archive.Parcel`. `hand_ins`: see `orders.HandIns`, if a stranger has handed in the bot; else ''."""
    return await _plugin().take(content, profile, parcel, HandIns.from_json(hand_ins) if hand_ins else None)


def _plugin() -> MachinePlugin:
    plugin = get_worker().plugins[NAME]
    assert isinstance(plugin, MachinePlugin)
    return plugin
