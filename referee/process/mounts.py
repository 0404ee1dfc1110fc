"""Mounts what a bot needs where the bot's own user can reach it, in a private mount namespace. For root only.

A bot's user may not pass a private home, nor read files written under umask 077. So each path is cloned as a mount
while root can still reach it, its owner shown as the bot's user where the file system can do that (an id-mapped mount,
Linux 5.12), and put under `MOUNT_FOLDERS`. No other process sees these mounts, and they vanish with the bot.
"""

# Part of the guardian: few and cheap imports.
# ruff: noqa: PTH101, PTH102, PTH112, PTH113, PTH114, PTH116, PTH123, S103
import ctypes
import os

from referee.process.trees import walk

MOUNT_FOLDERS = ("/mnt", "/media", "/srv", "/opt")
"""The first of these that is a folder is covered, in the bot's own mount namespace, by the folder."""

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # the same on all architectures but Alpha
_OPEN_TREE_CLONE, _O_CLOEXEC = 1, 0o2000000
_MOVE_MOUNT_F_EMPTY_PATH = 4
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV, _ATTR_IDMAP = 1, 2, 4, 0x00100000


def mount_folder() -> str:
    """Where the folder is on this machine. FileNotFoundError if there is no fit folder."""
    for folder in MOUNT_FOLDERS:
        if os.path.isdir(folder) and not os.path.islink(folder):
            return folder
    raise FileNotFoundError(2, f"none of {', '.join(MOUNT_FOLDERS)} is a folder")


def make_mounts(
    sources: "list[str]", uid: int, gid: int, *, map_ids: bool = True, own: "list[str] | tuple[str, ...]" = ()
) -> None:
    """Mounts `sources[n]`, read-only, at `mount_folder()/n`. This process moves into the new mount namespace.

    Those that are in `own` are given to the user for good, with all in them, and mounted writable. Raises OSError.
    """
    for source in own:
        _give(source, uid, gid)
    _call("unshare", ctypes.c_int(_CLONE_NEWNS))
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    maps: dict[tuple[int, int], int] = {}
    clones = [
        _clone_writable(source) if source in own else _clone(source, uid, gid, maps, map_ids=map_ids)
        for source in sources
    ]
    folder = mount_folder()
    _mount("tmpfs", folder, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=0755,size=1m")
    for number, (source, clone) in enumerate(zip(sources, clones, strict=True)):
        target = f"{folder}/{number}"
        if os.path.isdir(source):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT))
        if clone < 0:
            _mount(source, target, None, _MS_BIND)
            access = 0 if source in own else _MS_RDONLY
            _mount(None, target, None, _MS_BIND | _MS_REMOUNT | access | _MS_NOSUID | _MS_NODEV)
            continue
        _syscall(_MOVE_MOUNT, clone, b"", _AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)
        os.close(clone)
    for namespace in maps.values():
        if namespace >= 0:
            os.close(namespace)


def _clone(source: str, uid: int, gid: int, maps: "dict[tuple[int, int], int]", *, map_ids: bool) -> int:
    """A file for a detached mount of `source`; -1 on kernels before 5.12."""
    try:
        clone = _syscall(_OPEN_TREE, _AT_FDCWD, os.fsencode(source), _OPEN_TREE_CLONE | _O_CLOEXEC)
        flags = _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV
        place = os.stat(source)
        owner = (place.st_uid, place.st_gid)
        if map_ids:
            if owner not in maps:
                maps[owner] = _id_map(owner, (uid, gid))
            try:
                _set_attributes(clone, flags | _ATTR_IDMAP, maps[owner])
            except OSError:  # not on this file system
                map_ids = False
            else:
                return clone
        _set_attributes(clone, flags, 0)
    except OSError as error:
        if error.errno == 38:  # ENOSYS
            clone = -1
        else:
            raise OSError(error.errno, f"{error.strerror}: {source}") from None
    if not map_ids and not os.path.isdir(source) and not os.path.isfile(source):
        os.chmod(source, 0o666)  # a socket, in a folder that is private to the referee
    return clone


def _give(folder: str, uid: int, gid: int) -> None:
    """`folder` and all in it; of links, the links."""
    os.lchown(folder, uid, gid)
    for entry in walk(folder):
        os.lchown(entry.path, uid, gid)


def _clone_writable(source: str) -> int:
    """A file for a detached mount of `source` as it is; -1 on kernels before 5.12."""
    try:
        clone = _syscall(_OPEN_TREE, _AT_FDCWD, os.fsencode(source), _OPEN_TREE_CLONE | _O_CLOEXEC)
        _set_attributes(clone, _ATTR_NOSUID | _ATTR_NODEV, 0)
    except OSError as error:
        if error.errno == 38:  # ENOSYS
            return -1
        raise OSError(error.errno, f"{error.strerror}: {source}") from None
    return clone


def _set_attributes(clone: int, flags: int, namespace: int) -> None:
    attributes = (ctypes.c_uint64 * 4)(flags, 0, 0, namespace)
    _syscall(_MOUNT_SETATTR, clone, b"", _AT_EMPTY_PATH, ctypes.byref(attributes), ctypes.sizeof(attributes))


def _id_map(owner: "tuple[int, int]", user: "tuple[int, int]") -> int:
    """A user namespace in which what belongs to `owner` on disk belongs to `user`; its file."""
    told, tell = os.pipe()
    hold, held = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(held)
            _call("unshare", ctypes.c_int(_CLONE_NEWUSER))
            os.write(tell, b"1")
            os.read(hold, 1)  # until the other end is closed
        finally:
            os._exit(0)
    try:
        os.close(tell)
        if not os.read(told, 1):
            raise OSError(1, "no user namespace for an id-mapped mount")
        for name, one, other in (("uid_map", owner[0], user[0]), ("gid_map", owner[1], user[1])):
            with open(f"/proc/{child}/{name}", "w") as file:
                file.write(f"{one} {other} 1")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        for file_number in (told, hold, held):
            os.close(file_number)
        os.waitpid(child, 0)


def _mount(source: "str | None", target: str, kind: "str | None", flags: int, data: str = "") -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    _call("mount", *words, ctypes.c_ulong(flags), os.fsencode(data) if data else None)


def _syscall(number: int, *arguments: "int | bytes | object") -> int:
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return _call("syscall", ctypes.c_long(number), *words)


def _call(name: str, *arguments: object) -> int:
    result: int = getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def can_map_ids(path: str) -> bool:
    """Whether the file system of `path` takes id-mapped mounts. For root only; nothing is mounted anywhere."""
    maps: dict[tuple[int, int], int] = {}
    clone = -1
    try:
        clone = _syscall(_OPEN_TREE, _AT_FDCWD, os.fsencode(path), _OPEN_TREE_CLONE | _O_CLOEXEC)
        maps[0, 0] = _id_map((0, 0), (1, 1))
        _set_attributes(clone, _ATTR_RDONLY | _ATTR_IDMAP, maps[0, 0])
    except OSError:
        return False
    else:
        return True
    finally:
        for file in (clone, *maps.values()):
            if file >= 0:
                os.close(file)
