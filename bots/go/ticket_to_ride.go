package main

import (
	"context"
	"slices"

	"crosstown-bot/build/pb/referee"
	pb "crosstown-bot/build/pb/ticket_to_ride_new_york"
	"crosstown-bot/crosstown"
)

// Field numbers of the kinds in Action, which LegalActions.kind holds.
const (
	take        = 4
	drawTickets = 5
	claim       = 6
	keep        = 7
)

// What things are worth, in points.
const (
	worthOfPlanned     = 6.0
	worthOfUnseenCard  = 0.5
	worthOfNeededCard  = 1.0
	worthOfFaceUpTaxi  = 0.9
	worthOfNewTickets  = 2.0
	costOfTaxi         = 0.3
	costOfPlannedSpace = 0.6
	taxisForNewTickets = 7
)

// ticketToRidePlayer plans the routes that complete its tickets, collects for them and claims them.
type ticketToRidePlayer struct {
	seed  uint64
	seat  uint32
	board *board
}

var ticketToRideBot = crosstown.Bot{
	Name:            "ticket_to_ride",
	Version:         "1",
	Games:           []string{"ticket_to_ride_new_york"},
	ParallelMatches: 4,
	Start: func(match *referee.MatchStart) (crosstown.Player, error) {
		return &ticketToRidePlayer{seed: match.BotSeed, seat: match.Seat}, nil
	},
}

func (player *ticketToRidePlayer) Choose(_ context.Context, turn *crosstown.Turn) (crosstown.Answer, error) {
	var seen pb.Observation
	var legal pb.LegalActions
	if err := turn.Observe(&seen, &legal); err != nil {
		return crosstown.Answer{}, err
	}
	if player.board == nil {
		var err error
		if player.board, err = readBoard(seen.Box); err != nil {
			return crosstown.Answer{}, err
		}
	}
	position := newPosition(player.board, &seen, player.seat)
	worths := make([]float64, turn.LegalCount)
	for index := range worths {
		worths[index] = position.worth(&legal, index)
	}
	return crosstown.Index(best(worths, player.seed, turn.Decision)), nil
}

// best is one of the highest, by chance.
func best(worths []float64, seed uint64, decision uint32) uint32 {
	top := slices.Max(worths)
	var ties []uint32
	for index, worth := range worths {
		if worth == top {
			ties = append(ties, uint32(index))
		}
	}
	return ties[crosstown.FairIndex(seed, decision, uint32(len(ties)))]
}

// position is an observation with what the seat plans in it.
type position struct {
	*city
	seen *pb.Observation
	// Taxis left to place.
	taxis int
	plan  map[int]bool
	// need is, per card, how many the plan asks for; under CARD_UNKNOWN those of the longest route of any one colour.
	need [8]int
}

func newPosition(printed *board, seen *pb.Observation, seat uint32) *position {
	p := &position{city: newCity(printed, seen, seat), seen: seen, taxis: int(seen.Taxis[seat])}
	p.plan, _ = p.city.plan(seen.Tickets, p.taxis)
	for route := range p.plan {
		if card, length := p.card(route), p.Routes[route].Length; card == pb.Card_CARD_UNKNOWN {
			p.need[card] = max(p.need[card], length)
		} else {
			p.need[card] += length
		}
	}
	return p
}

func (p *position) worth(legal *pb.LegalActions, index int) float64 {
	card, number, other := legal.Card[index], legal.Number[index], legal.Other[index]
	switch legal.Kind[index] {
	case take:
		return p.worthOfCard(card)
	case claim:
		return p.worthOfClaim(int(number)-1, card, int(other))
	case keep:
		tickets := append(slices.Clone(p.seen.Tickets), number)
		if other != 0 {
			tickets = append(tickets, other)
		}
		return p.worthOfTickets(tickets)
	case drawTickets:
		return p.worthOfMoreTickets()
	case 3: // an unseen card
		return worthOfUnseenCard
	default: // nothing
		return 0
	}
}

func (p *position) worthOfCard(card pb.Card) float64 {
	if card == pb.Card_CARD_TAXI {
		return worthOfFaceUpTaxi
	}
	held := int(p.seen.Hand[card-1])
	switch missing := p.need[card] - held; {
	case missing > 0:
		return worthOfNeededCard + 0.2/float64(missing)
	case len(p.plan) == 0 && held < 4, held < p.need[pb.Card_CARD_UNKNOWN]:
		return worthOfUnseenCard + 0.1*float64(held+1)
	default:
		return 0.1
	}
}

func (p *position) worthOfClaim(route int, card pb.Card, taxis int) float64 {
	worth := float64(p.points(route)) - costOfTaxi*float64(taxis)
	planned := 0
	for each := range p.plan {
		planned += p.Routes[each].Length
	}
	switch {
	case p.plan[route]:
		// Of cards that another planned route needs, a gray one takes none if it can.
		if p.card(route) == pb.Card_CARD_UNKNOWN && card != pb.Card_CARD_TAXI && p.need[card] > 0 {
			worth--
		}
		return worthOfPlanned + worth
	case p.seen.LastTurns > 0:
		return worth
	case len(p.plan) > 0 || p.Routes[route].Length == 1 || p.Routes[route].Length > p.taxis-planned:
		return -1
	default:
		return worth
	}
}

func (p *position) worthOfTickets(tickets []uint32) float64 {
	plan, points := p.city.plan(tickets, p.taxis)
	length := 0
	for route := range plan {
		length += p.Routes[route].Length
	}
	return float64(points) - costOfPlannedSpace*float64(length)
}

// worthOfMoreTickets is high when all is done and there is time for more.
func (p *position) worthOfMoreTickets() float64 {
	fewest := slices.Min(p.seen.Taxis)
	if len(p.plan) > 0 || p.seen.LastTurns > 0 || fewest < taxisForNewTickets {
		return -1
	}
	return worthOfNewTickets
}
