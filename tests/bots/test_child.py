"""The bridge reads and writes the pipes of its program in its event loop, and never waits for the program."""

import sys

import pytest
from crosstown_bridge.child import LONGEST_LINE, Child, ChildGone


def program(body: str) -> Child:
    child = Child([sys.executable, "-I", "-S", "-c", body])
    child.listen()
    return child


async def test_lines_that_come_at_once_are_read_one_by_one_and_then_the_end():
    child = program("import os; os.write(1, b'one\\r\\n\\ntwo\\nunfinished')")
    assert [await child.line() for _ in range(4)] == ["one", "", "two", "unfinished"]
    with pytest.raises(ChildGone, match="exited with code 0"):
        await child.line()
    child.close()


async def test_a_line_that_comes_in_parts_is_one_line():
    child = program(
        "import sys; sys.stdin.readline(); sys.stdout.write('one'); sys.stdout.flush();"
        "sys.stdin.readline(); sys.stdout.write('Two\\n'); sys.stdout.flush(); sys.stdin.read()"
    )
    child.tell("go\n")
    child.tell("go on\n")
    assert await child.line() == "oneTwo"
    child.close()


async def test_a_program_that_does_not_read_keeps_nobody_waiting_and_gets_all_once_it_reads():
    child = program(
        "import sys; print('here', flush=True); sys.stdin.buffer.read(1);"
        "print(1 + len(sys.stdin.buffer.readline()), flush=True); sys.stdin.read()"
    )
    assert await child.line() == "here"
    size = 1 << 20  # more than a pipe holds
    child.tell("x" * (size - 1))
    child.tell("\n")
    assert await child.line() == str(size)
    child.close()


async def test_what_is_told_to_a_program_that_has_closed_its_input_ends_with_a_sentence():
    child = program("import os, time; os.close(0); print('closed', flush=True); time.sleep(60)")
    assert await child.line() == "closed"
    child.tell("one\n")
    child.tell("two\n")
    with pytest.raises(ChildGone, match="runs on, but it closed its input"):
        await child.line()
    assert child.surplus() == []
    child.close()


async def test_a_program_that_a_signal_without_a_name_ended_is_told_with_its_number():
    child = program("import os; os.kill(os.getpid(), 40)")
    with pytest.raises(ChildGone, match="was ended by signal 40"):
        await child.line()
    child.close()


async def test_a_line_without_end_is_given_up():
    child = program(f"import os, time; os.write(1, b'x' * {LONGEST_LINE}); time.sleep(60)")
    with pytest.raises(ChildGone, match="longer than"):
        await child.line()
    child.close()
