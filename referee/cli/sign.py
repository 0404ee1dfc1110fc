"""`crosstown sign`: sign a run, so that anybody can see whether it was changed since."""

from typing import Annotated

import typer

from referee.cli.arguments import OUT, LatestRun, Out


def sign(
    run: LatestRun = None,
    out: Out = OUT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the signature as JSON.")] = False,
) -> None:
    """Sign the journal of a run with your Ed25519 key, and print the public key. Stop the run first.

    The journal has a digest of every record that counts, so the signature covers the records, too. `crosstown matches
    verify` checks it. The key is made at first use, in crosstown/signing.pem of your configuration folder.

    Example: crosstown sign first
    """
    from referee.cli.output import print_json, print_text
    from referee.cli.runs import find_run
    from referee.run.signing import key_file
    from referee.texts import plural

    found = find_run(run, out)
    folder, signed = found.folder, found.sign()
    if as_json:
        print_json(
            {
                "run": str(folder.path),
                "signature": str(folder.signature),
                "lines": signed.head.lines,
                "digest": signed.head.digest,
                "at": signed.at,
                "public_key": signed.public_key,
            }
        )
        return
    print_text(f"signed: {plural(signed.head.lines, 'line')} of the journal of {folder.path}, in {folder.signature}")
    print_text(f"public key: {signed.public_key}")
    print_text(f"Publish the public key where others know that it is yours, and keep {key_file()} to yourself.")
