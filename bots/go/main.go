// One program, several players: the option `player` of bot.toml, or of the tournament, says which one plays.
package main

import (
	"fmt"

	"crosstown-bot/crosstown"
)

func main() {
	options := struct{ Player string }{Player: "random"}
	if err := crosstown.Options(&options); err != nil {
		crosstown.Fail(err)
	}
	switch options.Player {
	case "random":
		crosstown.Run(&randomBot)
	case "ticket_to_ride":
		crosstown.Run(&ticketToRideBot)
	default:
		crosstown.Fail(fmt.Errorf("option player is '%s': expected random or ticket_to_ride", options.Player))
	}
}
