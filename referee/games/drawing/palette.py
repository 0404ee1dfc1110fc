"""Colours. Data comes in the palette of Okabe and Ito, which people with any colour vision can tell apart, and never in
colour alone: beside it there is always a letter, number, shape or pattern."""

from collections.abc import Mapping

FILLS: Mapping[str, tuple[str, str]] = {
    "orange": ("#e69f00", "#000000"),
    "sky": ("#56b4e9", "#000000"),
    "green": ("#009e73", "#000000"),
    "yellow": ("#f0e442", "#000000"),
    "blue": ("#0072b2", "#ffffff"),
    "red": ("#d55e00", "#000000"),
    "pink": ("#cc79a7", "#000000"),
    "black": ("#1a1a1a", "#ffffff"),
    "white": ("#ffffff", "#000000"),
    "gray": ("#a8a8a8", "#000000"),
    "beige": ("#e3d2a4", "#000000"),
    "road": ("#6e7176", "#ffffff"),
}
"""Name: the colour, and that of text on it. The same in both themes."""

LIGHT: Mapping[str, str] = {
    "paper": "#fbfaf7",
    "panel": "#efece4",
    "ink": "#1b1b1b",
    "soft": "#55524a",
    "line": "#8a867b",
    "land": "#f3efdf",
    "water": "#cfe3f0",
    "park": "#cfe6c4",
    "can": "#7a2fc0",
    "now": "#b3260b",
}
DARK: Mapping[str, str] = {
    "paper": "#16181c",
    "panel": "#24272e",
    "ink": "#f1efe9",
    "soft": "#b9b6ad",
    "line": "#7d8089",
    "land": "#3a3d43",
    "water": "#17344a",
    "park": "#1f4030",
    "can": "#c9a2ff",
    "now": "#ffb199",
}
"""Name: colour, in the two themes. Text is `ink` or `soft`, on any of paper, panel, land, water and park."""

GROUNDS = ("paper", "panel", "land", "water", "park")
INKS = ("ink", "soft")
