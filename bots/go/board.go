package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	pb "crosstown-bot/build/pb/ticket_to_ride_new_york"
)

// newYork is the board that the game ships, as in the data of its rules.
//
//go:embed new_york.json
var newYork []byte

// board is what is printed. Routes and tickets are numbered from 1 on the wire and from 0 here.
type board struct {
	Locations []struct {
		Code       string
		Attraction bool
	}
	Routes []struct {
		From, To, Color string
		Length          int
		Double          string
	}
	Tickets []struct {
		From, To string
		Points   int
	}
	RoutePoints map[string]int `json:"route_points"`
}

// readBoard reads the box of a match: the game's own unless the observation carries another.
func readBoard(box string) (*board, error) {
	content := newYork
	if box != "" {
		content = []byte(box)
	}
	var read board
	if err := json.Unmarshal(content, &read); err != nil {
		return nil, fmt.Errorf("the box of the match: %w", err)
	}
	return &read, nil
}

// points are what claiming a route scores.
func (b *board) points(route int) int {
	return b.RoutePoints[strconv.Itoa(b.Routes[route].Length)]
}

// card is what a route is paid with; CARD_UNKNOWN is any one colour.
func (b *board) card(route int) pb.Card {
	colors := []string{"gray", "red", "orange", "green", "blue", "black", "pink"}
	return pb.Card(slices.Index(colors, b.Routes[route].Color))
}

// city is the board as one seat may still use it: per route what it costs, in taxis, to travel over it.
type city struct {
	*board
	cost []int
}

const closed = 1000

// newCity reads the claims of an observation from a seat's view.
func newCity(printed *board, seen *pb.Observation, seat uint32) *city {
	mine := seat + 1
	cost := make([]int, len(printed.Routes))
	for route := range printed.Routes {
		switch owner := seen.Owner[route]; {
		case owner == mine:
			cost[route] = 0
		case owner != 0 || printed.otherHalfCloses(route, seen, mine):
			cost[route] = closed
		default:
			cost[route] = printed.Routes[route].Length
		}
	}
	return &city{printed, cost}
}

// otherHalfCloses tells whether a double route is closed by its other half: always with two players, else if it is
// one's own.
func (b *board) otherHalfCloses(route int, seen *pb.Observation, mine uint32) bool {
	double := b.Routes[route].Double
	if double == "" {
		return false
	}
	for other := range b.Routes {
		owner := seen.Owner[other]
		if other != route && b.Routes[other].Double == double && owner != 0 && (owner == mine || seen.Players == 2) {
			return true
		}
	}
	return false
}

// way is the cheapest list of unclaimed routes that completes a ticket, those in plan costing nothing more; false if
// there is none.
func (c *city) way(ticket int, plan map[int]bool) ([]int, bool) {
	type arrival struct{ cost, route int }
	start, goal := c.Tickets[ticket].From, c.Tickets[ticket].To
	reached := map[string]arrival{start: {0, -1}}
	for changed := true; changed; { // some fifteen places: simple is fast enough
		changed = false
		for route, line := range c.Routes {
			cost := c.cost[route]
			if plan[route] {
				cost = 0
			}
			for _, ends := range [][2]string{{line.From, line.To}, {line.To, line.From}} {
				from, known := reached[ends[0]]
				to, seen := reached[ends[1]]
				if known && from.cost+cost < closed && (!seen || from.cost+cost < to.cost) {
					reached[ends[1]] = arrival{from.cost + cost, route}
					changed = true
				}
			}
		}
	}
	if _, known := reached[goal]; !known {
		return nil, false
	}
	var routes []int
	for place := goal; place != start; {
		route := reached[place].route
		if c.cost[route] > 0 && !plan[route] {
			routes = append(routes, route)
		}
		if line := c.Routes[route]; line.From == place {
			place = line.To
		} else {
			place = line.From
		}
	}
	return routes, true
}

// plan lists routes that complete the tickets with no more taxis than given, and the points so won or lost: the
// dearest ticket first, those out of reach given up.
func (c *city) plan(tickets []uint32, taxis int) (map[int]bool, int) {
	ordered := slices.Clone(tickets)
	slices.SortFunc(ordered, func(a, b uint32) int { return c.Tickets[b-1].Points - c.Tickets[a-1].Points })
	plan := map[int]bool{}
	points := 0
	for _, number := range ordered {
		ticket := int(number) - 1
		routes, found := c.way(ticket, plan)
		length := 0
		for _, route := range routes {
			length += c.Routes[route].Length
		}
		if !found || length > taxis {
			points -= c.Tickets[ticket].Points
			continue
		}
		taxis -= length
		points += c.Tickets[ticket].Points
		for _, route := range routes {
			plan[route] = true
		}
	}
	return plan, points
}
