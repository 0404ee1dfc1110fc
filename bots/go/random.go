package main

import (
	"context"

	pb "crosstown-bot/build/pb/referee"
	"crosstown-bot/crosstown"
)

// randomPlayer plays any game: it takes one of the legal actions by chance.
type randomPlayer struct {
	seed uint64
}

func (player randomPlayer) Choose(_ context.Context, turn *crosstown.Turn) (crosstown.Answer, error) {
	return crosstown.Index(crosstown.FairIndex(player.seed, turn.Decision, turn.LegalCount)), nil
}

var randomBot = crosstown.Bot{
	Name:            "random",
	Version:         "1",
	ParallelMatches: 4,
	// It only counts, so neither is sent, which is quicker. Take the two lines out to read them with turn.Observe.
	OmitObservation:  true,
	OmitLegalActions: true,
	Start: func(match *pb.MatchStart) (crosstown.Player, error) {
		return randomPlayer{match.BotSeed}, nil
	},
}
