"""Write `docs/protocol/*.md`, the reference of all messages, from the comments in `proto/crosstown/v1/*.proto`.

`python proto/reference.py` writes them; `--check` writes nothing and exits with 1 if the committed pages differ.
"""

import sys
import tempfile
from pathlib import Path

from generate import run_compiler
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

PROTO = Path(__file__).resolve().parent
PAGES = PROTO.parent / "docs" / "protocol"
_MESSAGES, _ENUMS, _NESTED, _FIELDS, _VALUES, _NESTED_ENUMS = 4, 5, 3, 2, 2, 4
"""Numbers of the fields of descriptors: the steps of a path to a comment."""


def read_files() -> list[FileDescriptorProto]:
    """Every proto file with its comments, by name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "set"
        sources = sorted((PROTO / "crosstown" / "v1").glob("*.proto"))
        run_compiler([f"-I{PROTO}", "--include_source_info", f"--descriptor_set_out={out}", *map(str, sources)])
        return list(FileDescriptorSet.FromString(out.read_bytes()).file)


def page(file: FileDescriptorProto) -> str:
    """One file as a page."""
    comments = {tuple(place.path): place.leading_comments.strip() for place in file.source_code_info.location}
    first = next((place for place in file.source_code_info.location if tuple(place.path) == (12,)), None)
    intro = "\n".join(line.strip() for line in first.leading_comments.strip().splitlines()) if first else ""
    name = Path(file.name).name
    lines = [f"# {name}", "", f"Generated from `proto/crosstown/v1/{name}` by `python proto/reference.py`.", ""]
    if intro:
        lines += ["```text", intro, "```", ""]
    for number, message in enumerate(file.message_type):
        lines += _message(message, message.name, (_MESSAGES, number), comments)
    for number, enum in enumerate(file.enum_type):
        lines += _enum(enum, enum.name, (_ENUMS, number), comments)
    return "\n".join(lines).rstrip() + "\n"


def _message(
    message: DescriptorProto, name: str, path: tuple[int, ...], comments: dict[tuple[int, ...], str]
) -> list[str]:
    if message.options.map_entry:
        return []
    lines = [f"## {name}", ""]
    if comments.get(path):
        lines += [_flow(comments[path]), ""]
    if message.field:
        lines += ["| no. | field | type | meaning |", "| --- | --- | --- | --- |"]
        for number, field in enumerate(message.field):
            meaning = _flow(comments.get((*path, _FIELDS, number), "")).replace("|", "\\|")
            lines.append(f"| {field.number} | `{field.name}` | {_type(field, message)} | {meaning} |")
        lines.append("")
    for number, nested in enumerate(message.nested_type):
        lines += _message(nested, f"{name}.{nested.name}", (*path, _NESTED, number), comments)
    for number, enum in enumerate(message.enum_type):
        lines += _enum(enum, f"{name}.{enum.name}", (*path, _NESTED_ENUMS, number), comments)
    return lines


def _enum(
    enum: EnumDescriptorProto, name: str, path: tuple[int, ...], comments: dict[tuple[int, ...], str]
) -> list[str]:
    lines = [f"## {name}", ""]
    if comments.get(path):
        lines += [_flow(comments[path]), ""]
    lines += ["| no. | value | meaning |", "| --- | --- | --- |"]
    for number, value in enumerate(enum.value):
        lines.append(f"| {value.number} | `{value.name}` | {_flow(comments.get((*path, _VALUES, number), ''))} |")
    return [*lines, ""]


def _type(field: FieldDescriptorProto, message: DescriptorProto) -> str:
    if field.type in (field.TYPE_MESSAGE, field.TYPE_ENUM):
        kind = field.type_name.rpartition(".")[2]
    else:
        kind = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    if field.label == field.LABEL_REPEATED:
        return f"repeated {kind}"
    if field.proto3_optional:
        return f"optional {kind}"
    if field.HasField("oneof_index"):
        return f"{kind}, one of `{message.oneof_decl[field.oneof_index].name}`"
    return kind


def _flow(comment: str) -> str:
    return " ".join(comment.split())


def main() -> None:
    fresh = {f"{Path(file.name).stem}.md": page(file) for file in read_files()}
    if "--check" in sys.argv[1:]:
        committed = {path.name: path.read_text() for path in PAGES.glob("*.md")}
        names = sorted(name for name in fresh.keys() | committed.keys() if fresh.get(name) != committed.get(name))
        if names:
            raise SystemExit(f"stale: {', '.join(names)}; run: python proto/reference.py")
        return
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, text in fresh.items():
        (PAGES / name).write_text(text)


if __name__ == "__main__":
    main()
