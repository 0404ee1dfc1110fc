"""The memory of a run's bots: lowered limits where those of the file would together exceed what there is."""

from referee.errors import PlatformError
from referee.process.limits import LEAST_MIB, Room, Share
from referee.tournament.config import Tournament


def share_memory(tournament: Tournament, workers: int, room: Room) -> tuple[int, str]:
    """The most that a bot may have, in MiB, and a sentence for the organiser if that is less than the file allows.

    PlatformError if no bot could start with it.
    """
    config = tournament.config
    seats = max((players for game in config.games for players in game.players), default=2)
    tables = workers + (config.remote is not None)
    share = Share(room, tables, tables * seats)
    if not share.is_enough:
        raise PlatformError(
            f"each bot could have {share.mib} MiB of memory, and needs {LEAST_MIB} MiB: {share.words()}",
            "use fewer --workers, or give the referee more memory",
        )
    wanted = [config.limits.with_clock(bot.clock).memory_mib for bot in tournament.bots]
    if all(0 < mib <= share.mib for mib in wanted):
        return share.mib, ""
    return share.mib, (
        f"memory_mib is lowered to {share.mib}, so that all limits together fit: {share.words()};"
        " use fewer --workers for more"
    )
