"""`name`: what the tournament and its run folder are called."""

from referee.process.manifest import BotNameError, check_name
from referee.tournament.reading import TomlFile, show

MAX_NAME_BYTES = 100


def read_name(file: TomlFile) -> str:
    """Default: the file's name. Raises ConfigError."""
    name = file.text_at("name", default=file.path.stem, example='name = "first"')
    where = ("name",)
    try:
        name = check_name(name)
    except BotNameError as error:
        what = str(error).replace("the bot's name", "the name").replace("a bot's name", "a name")
        file.fail(where, f"'name': {what}", 'write, for instance, name = "first"')
    if name[0] in ".-" or "/" in name or len(name.encode()) > MAX_NAME_BYTES:
        file.fail(
            where,
            f"'name' must be fit for a folder: no '/', no '.' or '-' in front, at most {MAX_NAME_BYTES} bytes,"
            f" not {show(name)}",
            'write, for instance, name = "first"',
        )
    return name
