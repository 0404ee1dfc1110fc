"""What counts as one address, and which connection makes room for a new one."""

import pytest

from referee.addresses import address_key, oldest_of_busiest


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_whoever_has_an_ipv6_address_has_its_whole_network(host: str, key: str) -> None:
    assert address_key(host) == key


def test_the_oldest_of_the_address_with_the_most_makes_room() -> None:
    assert oldest_of_busiest({"old": "a", "first": "b", "second": "b", "late": "a", "last": "b"}) == "first"
    assert oldest_of_busiest({"old": "a", "new": "b"}) == "old"
