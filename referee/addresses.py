"""Where connections come from: what counts as one address, and which connection makes room for a new one."""

import ipaddress
from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


def address_key(host: str) -> str:
    """What addresses are counted by: of IPv6 the network of 64 bits, all of which the owner of one address has; of
    what is no IP address, the text itself."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(address, ipaddress.IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


def oldest_of_busiest(origins: Mapping[T, str]) -> T:
    """The first of those whose address most of `origins` have."""
    busiest, _ = Counter(origins.values()).most_common(1)[0]
    return next(one for one, origin in origins.items() if origin == busiest)
