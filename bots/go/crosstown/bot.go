// Package crosstown is the client side of a bot: write a [Player] that answers one question at a time, and a [Bot] that
// makes one for each match.
package crosstown

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"google.golang.org/protobuf/proto"

	pb "crosstown-bot/build/pb/referee"
)

// Bot is what the bot tells the referee about itself, and how it begins a match.
type Bot struct {
	Name    string
	Version string
	// Games are the ids of the games it plays; none: any.
	Games []string
	// ParallelMatches is how many matches it plays at the same time, each in a goroutine of its own; 0 is 1.
	ParallelMatches uint32
	// WantsUpdates asks for Updater.Update to be called while others move.
	WantsUpdates bool
	// OmitObservation and OmitLegalActions save the work of encoding what is not looked at; it is then not there.
	OmitObservation, OmitLegalActions bool
	// Start makes the player of a match. There is time: the limit is the one for becoming ready.
	Start func(match *pb.MatchStart) (Player, error)
}

// Player plays one match. An error or a panic ends the process: that is a crash, which loses the match.
type Player interface {
	// Choose answers a question. The context is done when the referee has closed it: an answer would be dropped.
	Choose(ctx context.Context, turn *Turn) (Answer, error)
}

// Updater is a Player that looks while others move.
type Updater interface {
	Update(update *pb.Update)
}

// Ender is a Player that wants to know how the match ended.
type Ender interface {
	End(end *pb.MatchEnd)
}

// Turn is one question.
type Turn struct {
	*pb.Decide
	// Note stands beside the move in the record.
	Note string
	bot  *Bot
}

// Left is the time for this answer when the referee sent the question, with all that bank or total can give; at 0 none
// is left. GetClock says how much of it is bank or total, which later answers lack.
func (turn *Turn) Left() time.Duration {
	return time.Duration(turn.GetClock().GetLeftUs()) * time.Microsecond
}

// Observe reads the game's Observation message into seen and its LegalActions message into legal. Either may be nil, and
// must be if the Bot omits it.
func (turn *Turn) Observe(seen, legal proto.Message) error {
	if seen != nil && turn.bot.OmitObservation {
		return errors.New("the observation is not sent: your Bot says OmitObservation: true; take that line out of it")
	}
	if legal != nil && turn.bot.OmitLegalActions {
		return errors.New("the legal actions are not sent: your Bot says OmitLegalActions: true; take that line out of it")
	}
	for message, content := range map[proto.Message][]byte{seen: turn.Observation, legal: turn.LegalActions} {
		if message == nil {
			continue
		}
		if err := proto.Unmarshal(content, message); err != nil {
			return fmt.Errorf("these bytes are no %s, is it another game? %w", proto.MessageName(message), err)
		}
	}
	return nil
}

// Answer is what a player answers: made by Index, Action or Resign.
type Answer struct {
	index  uint32
	action []byte
	resign bool
}

// Index answers with a position in the list of legal actions, below Turn.LegalCount.
func Index(index uint32) Answer { return Answer{index: index} }

// Action answers with the game's Action message.
func Action(action proto.Message) (Answer, error) {
	content, err := proto.Marshal(action)
	return Answer{action: content}, err
}

// Resign gives the match up.
func Resign() Answer { return Answer{resign: true} }

func (answer Answer) message(turn *Turn) *pb.BotMessage {
	if answer.resign {
		return &pb.BotMessage{Body: &pb.BotMessage_Resign{Resign: &pb.Resign{Match: turn.Match}}}
	}
	move := &pb.Move{Match: turn.Match, Decision: turn.Decision, Note: turn.Note}
	if answer.action != nil {
		move.Choice = &pb.Move_Action{Action: answer.action}
	} else {
		move.Choice = &pb.Move_Index{Index: answer.index}
	}
	return &pb.BotMessage{Body: &pb.BotMessage_Move{Move: move}}
}

// Options reads the bot's own options, those of bot.toml with the tournament's over them, into a struct or map.
func Options(into any) error {
	text := os.Getenv("CROSSTOWN_OPTIONS")
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("CROSSTOWN_OPTIONS is %s: %w", text, err)
	}
	return nil
}
