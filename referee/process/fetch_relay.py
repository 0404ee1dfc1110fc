"""Inside the sandbox of a fetch phase: a port on loopback that leads to our proxy, and the command that fetches.

    python -I -S -c SOURCE SOCKET PORT COMMAND [ARGUMENT ...]

Package managers reach a proxy by host and port only; the sandbox has no network but its own loopback. So this program
listens there, carries the bytes to the unix socket, runs the command, and ends with its exit code. It is passed as
text, because the sandbox does not show the referee's own files.
"""

import os
import select
import socket
import sys
import threading

CHUNK_BYTES = 1 << 16


def pump(one: socket.socket, other: socket.socket, idle_s: float | None = None) -> None:
    """Carries bytes both ways until both sides have ended or nothing came for `idle_s`; closes both."""
    others = {one: other, other: one}
    ends = {end.fileno(): end for end in others}
    waiting = select.poll()  # `select` takes no number of a file above 1,023
    for number in ends:
        waiting.register(number, select.POLLIN)
    with one, other:
        while ends:
            ready = waiting.poll(None if idle_s is None else idle_s * 1000)
            if not ready:
                return
            for number, _ in ready:
                end = ends[number]
                try:
                    chunk = end.recv(CHUNK_BYTES)
                    others[end].sendall(chunk)
                    if not chunk:
                        waiting.unregister(number)
                        del ends[number]
                        others[end].shutdown(socket.SHUT_WR)
                except OSError:
                    return


def _serve(listener: socket.socket, path: str) -> None:
    while True:
        client, _ = listener.accept()
        proxy = socket.socket(socket.AF_UNIX)
        try:
            proxy.connect(path)
        except OSError:
            client.close()
            proxy.close()
        else:
            threading.Thread(target=pump, args=(client, proxy), daemon=True).start()


def main(words: list[str]) -> None:
    path, port, command = words[0], int(words[1]), words[2:]
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(command[0], command)  # noqa: S606
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        finally:
            os._exit(127)
    threading.Thread(target=_serve, args=(listener, path), daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(sys.argv[1:])
