"""Makes the certificates of a cluster: one authority, and one certificate for each machine and each organiser."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from referee.cluster.peers import Certificates
from referee.errors import PlatformError, UsageError
from referee.record.files import read_ordinary

_DAYS = 3650
_MOST_NAME_BYTES = 64
"""Of a common name, by X.520."""

_MOST_BYTES = 1 << 20
_EARLY = timedelta(days=2)
"""How far a machine's clock may be behind while the certificates of its peers are still valid."""


def make_certificates(folder: Path, name: str) -> Certificates:
    """A certificate and key called `name`, signed by the authority in `folder`, which is made if it is not there.

    PlatformError if something cannot be written, UsageError if there is a certificate of that name.
    """
    ca, ca_key = folder / "ca.pem", folder / "ca-key.pem"
    made = Certificates(ca, folder / f"{name}.pem", folder / f"{name}-key.pem")
    if len(name.encode()) > _MOST_NAME_BYTES:
        what = f"--name has {len(name.encode())} bytes, and the name in a certificate has at most {_MOST_NAME_BYTES}"
        raise UsageError(what, "choose a shorter one")
    if made.cert.exists() or made.key.exists():
        raise UsageError(f"{made.cert} is there already", "choose another --name, or remove it")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not ca_key.exists():
            key = ec.generate_private_key(ec.SECP256R1())
            subject = _named("Crosstown cluster")
            _write({ca_key: _private(key), ca: _signed(subject, subject, key, key, is_ca=True)})
        authority = x509.load_pem_x509_certificate(read_ordinary(ca, _MOST_BYTES))
        signer = load_pem_private_key(read_ordinary(ca_key, _MOST_BYTES), None)
        if not isinstance(signer, ec.EllipticCurvePrivateKey):
            raise UsageError(f"{ca_key} was not made by this command", "use another folder")
        key = ec.generate_private_key(ec.SECP256R1())
        _write({made.key: _private(key), made.cert: _signed(_named(name), authority.subject, key, signer, is_ca=False)})
    except OSError as error:
        what = f"no certificate could be made in {folder}: {error.strerror}"
        raise PlatformError(what, "choose another folder") from None
    except ValueError as error:
        raise UsageError(f"{ca} or {ca_key} cannot be read ({error})", "use another folder") from None
    return made


def _signed(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    is_ca: bool,
) -> bytes:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLY)
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=0 if is_ca else None), critical=True)
        .sign(signer, hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write(files: Mapping[Path, bytes]) -> None:
    """Write files that only their owner can read: all of them or, on a full disk, none. OSError."""
    begun: list[Path] = []
    try:
        for path, data in files.items():
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            begun.append(path)
            with os.fdopen(number, "wb") as file:
                file.write(data)
    except OSError:
        for path in begun:
            path.unlink(missing_ok=True)
        raise
