#!/usr/bin/env python3
"""Sets everything up in `.venv` and runs one thing.

    python3 launch.py first     play tournaments/first.toml to a leaderboard (the default)
    python3 launch.py test      run the tests but those marked slow; further words go to pytest, such as --slow
    python3 launch.py setup     only set up, with the tools for development
    python3 launch.py compile   make a wheel with compiled rules (experimental), in dist/

Needs Python 3.11 or newer with venv and pip, nothing else.
"""

import hashlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
OLDEST = (3, 11)


def fail(sentence):
    sys.exit("launch.py: " + sentence)


def check_python():
    """This file must parse on old Pythons, so that they get this sentence and not a syntax error."""
    version = "%d.%d" % sys.version_info[:2]
    if sys.version_info < OLDEST:
        fail("Python %s is too old; run it with Python 3.11 or newer, such as: python3.11 launch.py" % version)
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:
        fail(
            "this Python has no %s; on Debian or Ubuntu: apt install python%s-venv, then run this again"
            % (error.name, version)
        )


def set_up(extra):
    """Create the environment and install into it, once per change of what is to be installed."""
    markers = [os.path.join(VENV, "installed-" + name) for name in (extra or "plain", "dev")]
    wanted = hashlib.sha256(ROOT.encode())
    for name in ("pyproject.toml", os.path.join("bots", "python", "pyproject.toml"), "constraints.txt"):
        with open(os.path.join(ROOT, name), "rb") as file:
            wanted.update(file.read())
    for marker in markers:  # with the tools for development comes everything else
        if os.path.exists(marker) and os.path.exists(PYTHON):
            with open(marker) as file:
                if file.read() == wanted.hexdigest():
                    return
    print("Setting up in .venv (a minute, once) ...", flush=True)
    run([sys.executable, "-m", "venv", *(["--clear"] if moved() else []), VENV])
    target = ROOT + ("[%s]" % extra if extra else "")
    constraints = os.path.join(ROOT, "constraints.txt")
    # The name of the distribution until it became crosstown-arena: with both, each game would be there twice.
    run([PYTHON, "-m", "pip", "uninstall", "-qq", "--yes", "--disable-pip-version-check", "crosstown"])
    run(
        [
            PYTHON,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "-c",
            constraints,
            # Both distributions of this checkout, together: neither is looked for in an index.
            "-e",
            os.path.join(ROOT, "bots", "python"),
            "-e",
            target,
        ]
    )
    with open(markers[0], "w") as file:
        file.write(wanted.hexdigest())


def moved():
    """Whether an environment is there that belongs to another place or does not work."""
    if not os.path.exists(VENV):
        return False
    works = os.path.exists(PYTHON) and subprocess.call([PYTHON, "-c", ""]) == 0
    scripts = os.path.join(VENV, "bin", "pip")
    try:
        with open(scripts, "rb") as file:
            here = VENV.encode() in file.read(4096)
    except OSError:
        here = False
    return not (works and here)


def run(command):
    status = subprocess.call(command, cwd=ROOT)
    if status != 0:
        fail("%r ended with exit code %d" % (" ".join(command), status))


def main(words):
    what = words[0] if words else "first"
    if what not in ("first", "test", "setup", "compile") or (what != "test" and len(words) > 1):
        fail("unknown words %r; say: first, test [pytest options], setup or compile" % " ".join(words))
    check_python()
    try:
        set_up("" if what == "first" else "dev")
    except KeyboardInterrupt:
        fail("interrupted; run it again to continue")
    if what == "first":
        command = [os.path.join(VENV, "bin", "crosstown"), "run", os.path.join("tournaments", "first.toml")]
    elif what == "test":
        # A process per core and one more, since tests wait for processes; a file to each, in the order of
        # tests/conftest.py. The last -n given wins.
        processes = str((os.cpu_count() or 1) + 1)
        command = [PYTHON, "-m", "pytest", "-n", processes, "--dist", "loadfile", "--no-loadscope-reorder", *words[1:]]
    elif what == "compile":
        os.environ["CROSSTOWN_COMPILE"] = "1"  # see hatch_build.py
        command = [PYTHON, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", "."]
    else:
        return
    os.chdir(ROOT)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
