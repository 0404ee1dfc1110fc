"""The play example of the rules (sheet section 3.7), and its counter-case."""

from typing import Any


def captain_fish(scene: Any, places: str) -> Any:
    """Kong is seat 2. Captain Fish's Queens hold one Infantry and show a high-rise of durability 1."""
    return scene(
        places,
        units={"queens": "infantry"},
        tops={"queens": "high_rise_1 high_rise_3 power_plant_3"},
        below="hospital_3",
    )


def test_the_printed_turn(scene: Any) -> None:
    turn = captain_fish(scene, "q b m1")
    turn.roll("cceaho")
    turn.do("reroll(counts=[1,1,0,1,0,1])").roll("ddah")
    # A Celebrity die kept the first time is rolled again now.
    turn.do("reroll(counts=[0,1,0,1,1,0])").roll("dao")
    assert turn.dice == "adddco"
    turn.do("resolve(face=destruction)", "destroy_building(stack=6)")
    assert turn.state.vp[0] == 1
    assert turn.asked == (0, "resolve"), "two dice on the Infantry, the only target that two dice pay for"
    assert turn.state.life[0] == 10, "+1 life, but never above 10"
    assert turn.state.trophies[0] == 1
    assert turn.units("queens") == {"infantry": 1}, "the high-rise became an Infantry"
    turn.do("resolve(face=ouch)")
    assert turn.state.life == [9, 10, 10]
    turn.do("resolve(face=attack)")
    assert turn.asked == (2, "flee")
    assert turn.state.life == [9, 10, 9]
    turn.do("stay()")
    assert turn.state.vp[0] == 1, "one Celebrity without Superstar gives nothing"
    assert turn.asked == (0, "move")
    assert turn.menu[0] == "stay()"
    assert turn.places == "q b m1"
    turn.do("stay()")
    assert turn.heard("turn_began")[-1].seat == 1, "nothing to buy: the turn ended"
    assert turn.state.energy == [0, 0, 0]


def test_the_same_dice_in_manhattan_hit_everyone_outside(scene: Any) -> None:
    turn = captain_fish(scene, "m0 b q").final("dddaco").resolve("a")
    assert turn.state.life == [10, 9, 9]
    assert turn.asked == (0, "resolve"), "nobody outside may flee"
