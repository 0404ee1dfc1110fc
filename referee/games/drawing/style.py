"""The style sheet of all boards. All of it is below the class `ct-board`, so it touches nothing else on a page."""

from collections.abc import Mapping
from functools import cache

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


THEMES = ("auto", "light", "dark")

_RULES = (
    "{font-family:'Helvetica Neue',Helvetica,Arial,'Liberation Sans',sans-serif}",
    " text{dominant-baseline:auto;pointer-events:none}",
    " .mono{font-family:ui-monospace,'Liberation Mono','DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}",
    " .b{font-weight:700}",
    " .m{text-anchor:middle}",
    " .e{text-anchor:end}",
    " .edge{stroke:$line;stroke-width:1}",
    " .rim{stroke:$ink;stroke-width:1}",
    " .rim2{stroke:$ink;stroke-width:2.5}",
    " .thick{stroke-width:2.5}",
    " .hole{fill:none}",
    " .dash{stroke-dasharray:3 2}",
    " .piece{stroke:#000;stroke-width:1.5;stroke-linejoin:round}",
    " .label{paint-order:stroke;stroke:$land;stroke-width:3;stroke-linejoin:round}",
    " .side-r{stroke:#fff;stroke-dasharray:3 2}",
    " .side-t{stroke:#000}",
    " .side-g{stroke:#000;stroke-dasharray:0 3.4;stroke-linecap:round;stroke-width:2.2}",
    " .side-b{stroke:#000}",
    " .halo{fill:none;stroke:none;stroke-linejoin:round;pointer-events:all}",
    " .now>.halo{stroke:$now;stroke-width:2.5}",
    " .can{cursor:pointer}",
    " .can>.halo{stroke:$can;stroke-width:2;stroke-dasharray:4 2}",
    " .can:hover>.halo,.ct-board .can:focus>.halo{stroke-width:4;stroke-dasharray:none}",
    " .can:focus{outline:none}",
)


@cache
def stylesheet(theme: str = "auto") -> str:
    """CSS. With theme 'light' or 'dark' the colours are written out, for programs that know no custom properties."""
    if theme == "auto":
        rules = [
            f".ct-board{{{_properties(LIGHT)}}}",
            f"@media (prefers-color-scheme:dark){{.ct-board{{{_properties(DARK)}}}}}",
            f".ct-light .ct-board,.ct-board.ct-light{{{_properties(LIGHT)}}}",
            f".ct-dark .ct-board,.ct-board.ct-dark{{{_properties(DARK)}}}",
        ]
        colours = {name: f"var(--ct-{name})" for name in LIGHT}
    else:
        rules, colours = [], dict({"light": LIGHT, "dark": DARK}[theme])
    rules += [f".ct-board{_coloured(rule, colours)}" for rule in _RULES]
    for name in (*GROUNDS, *INKS, "line", "can", "now"):
        rules.append(f".ct-board .{name}{{fill:{colours[name]}}}")
        rules.append(f".ct-board .s-{name}{{stroke:{colours[name]}}}")
    for name, (fill, ink) in FILLS.items():
        rules.append(f".ct-board .f-{name}{{fill:{fill}}}")
        rules.append(f".ct-board .s-{name}{{stroke:{fill}}}")
        rules.append(f".ct-board .on-{name}{{fill:{ink}}}")
    return "\n".join(rules) + "\n"


def _properties(colours: Mapping[str, str]) -> str:
    return ";".join(f"--ct-{name}:{colour}" for name, colour in colours.items())


def _coloured(rule: str, colours: Mapping[str, str]) -> str:
    for name, colour in colours.items():
        rule = rule.replace(f"${name}", colour)
    return rule
