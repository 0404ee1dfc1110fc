"""`name`: what the tournament and its run folder are called."""

from referee.process.manifest import BotNameError, check_name
from referee.tournament.reading import TomlFile, dotted, show

MAX_NAME_BYTES = 100


def read_name(file: TomlFile, *table: str | int, default: str = "") -> str:
    """The name in a table of the file, or at its top. Default: the file's name. Raises ConfigError."""
    where = (*table, "name")
    name = file.text_at(*where, default=default or file.path.stem, example='name = "first"')
    try:
        name = check_name(name)
    except BotNameError as error:
        what = str(error).replace("the bot's name", "the name").replace("a bot's name", "a name")
        file.fail(where, f"'{dotted(*where)}': {what}", 'write, for instance, name = "first"')
    if name[0] in ".-" or "/" in name or len(name.encode()) > MAX_NAME_BYTES:
        file.fail(
            where,
            f"'{dotted(*where)}' must be fit for a folder: no '/', no '.' or '-' in front,"
            f" at most {MAX_NAME_BYTES} bytes, not {show(name)}",
            'write, for instance, name = "first"',
        )
    return name
