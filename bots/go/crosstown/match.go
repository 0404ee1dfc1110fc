package crosstown

import (
	"context"
	"fmt"

	pb "crosstown-bot/build/pb/referee"
)

// waiting is how many messages a match may leave unread before the reader of the stream waits for its player.
const waiting = 1024

// sender puts a message on the stream, unless its context is done when its turn has come: nobody waits for it then.
type sender func(context.Context, *pb.BotMessage)

// match is played in a goroutine of its own, so that a player who thinks keeps nothing else waiting.
type match struct {
	inbox chan letter
	// What is asked now; only the reader of the stream looks at these two.
	asked uint32
	close context.CancelFunc
}

// letter is a message to the player; ctx belongs to a question and is done when the referee closes it.
type letter struct {
	ctx     context.Context
	message *pb.RefereeMessage
}

func newMatch() *match {
	return &match{inbox: make(chan letter, waiting), close: func() {}}
}

// deliver hands a message over, from the reader of the stream.
func (m *match) deliver(message *pb.RefereeMessage) {
	ctx := context.Background()
	switch body := message.Body.(type) {
	case *pb.RefereeMessage_Decide:
		ctx, m.close = context.WithCancel(ctx)
		m.asked = body.Decide.Decision
	case *pb.RefereeMessage_Cancel:
		if body.Cancel.Decision == m.asked {
			m.close()
		}
		return
	case *pb.RefereeMessage_MatchEnd:
		m.close()
	}
	m.inbox <- letter{ctx, message}
}

// play is the goroutine of the match.
func (m *match) play(bot *Bot, start *pb.MatchStart, send sender) error {
	player, err := bot.Start(start)
	if err != nil {
		return fmt.Errorf("starting match %s: %w", start.Match, err)
	}
	send(context.Background(), &pb.BotMessage{Body: &pb.BotMessage_Ready{Ready: &pb.Ready{Match: start.Match}}})
	for letter := range m.inbox {
		switch body := letter.message.Body.(type) {
		case *pb.RefereeMessage_Decide:
			turn := &Turn{Decide: body.Decide, bot: bot}
			answer, err := player.Choose(letter.ctx, turn)
			if err != nil {
				return fmt.Errorf("decision %d of match %s: %w", turn.Decision, start.Match, err)
			}
			send(letter.ctx, answer.message(turn))
		case *pb.RefereeMessage_Update:
			if updater, ok := player.(Updater); ok {
				updater.Update(body.Update)
			}
		case *pb.RefereeMessage_MatchEnd:
			if ender, ok := player.(Ender); ok {
				ender.End(body.MatchEnd)
			}
			return nil
		}
	}
	return nil
}
