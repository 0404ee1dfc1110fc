package crosstown

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	pb "crosstown-bot/build/pb/referee"
)

const protocol = 1

// Run plays until the referee says Bye, then ends the process with exit code 0; with 1 and a sentence on stderr if
// something is wrong.
func Run(bot *Bot) {
	if err := play(bot); err != nil {
		Fail(err)
	}
	os.Exit(0)
}

// Fail prints what is wrong for the bot's author and ends the process with exit code 1.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// play is one session: from dialling until Bye (nil) or until the stream ends.
func play(bot *Bot) error {
	address, token := os.Getenv("CROSSTOWN_ADDRESS"), os.Getenv("CROSSTOWN_TOKEN")
	for name, value := range map[string]string{"CROSSTOWN_ADDRESS": address, "CROSSTOWN_TOKEN": token} {
		if value == "" {
			return fmt.Errorf("%s is not set: a bot is started by the referee, for instance by `crosstown run FILE`", name)
		}
	}
	connection, err := dial(address)
	if err != nil {
		return err
	}
	limit := seconds("CROSSTOWN_CONNECT_S", 10)
	used := ""
	if isUnixSocket(address) {
		used = "; it takes one process for each token, and no further connection after that"
	}
	late := fmt.Errorf("no answer from the referee at %s within %g s%s", address, limit.Seconds(), used)
	ctx, cancel := context.WithCancelCause(context.Background())
	connecting := time.AfterFunc(limit, func() { cancel(late) })
	stream, err := pb.NewRefereeClient(connection).Play(ctx, grpc.WaitForReady(true))
	if err == nil {
		err = serve(bot, stream, token, connecting)
	}
	if errors.Is(context.Cause(ctx), late) {
		return late
	}
	return err
}

func isUnixSocket(address string) bool { return strings.HasPrefix(address, "unix:") }

func dial(address string) (*grpc.ClientConn, error) {
	security, err := secure(address)
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)),
	}
	// A unix socket tells at once that the other side is gone; a network only if asked.
	pause := 20
	if isUnixSocket(address) {
		pause = 0
	}
	if every := seconds("CROSSTOWN_KEEPALIVE_S", pause); every > 0 {
		options = append(options, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: every, Timeout: 20 * time.Second}))
	}
	connection, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("CROSSTOWN_ADDRESS is '%s', expected unix:/path or host:port: %w", address, err)
	}
	return connection, nil
}

// secure is TLS with a referee elsewhere. A plain connection never leaves this machine: it would tell the token.
func secure(address string) (credentials.TransportCredentials, error) {
	path := os.Getenv("CROSSTOWN_TLS_CA")
	switch {
	case isUnixSocket(address):
		return insecure.NewCredentials(), nil
	case path != "":
		security, err := credentials.NewClientTLSFromFile(path, "")
		if err != nil {
			err = fmt.Errorf(
				"CROSSTOWN_TLS_CA names %s, expected the referee's certificate authority, a PEM file: %w", path, err)
		}
		return security, err
	case onThisMachine(address):
		return insecure.NewCredentials(), nil
	}
	return nil, fmt.Errorf("the referee at %s is not on this machine, and CROSSTOWN_TLS_CA is not set: give it the path"+
		" of a PEM file with the certificate of the referee or of who signed it", address)
}

func onThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

func seconds(name string, otherwise int) time.Duration {
	number, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		number = otherwise
	}
	return time.Duration(number) * time.Second
}

type stream = grpc.BidiStreamingClient[pb.BotMessage, pb.RefereeMessage]

// serve answers until Bye (nil) or until the stream ends. It stops `connecting` when the referee has answered.
func serve(bot *Bot, stream stream, token string, connecting *time.Timer) error {
	var writing sync.Mutex
	send := func(ctx context.Context, message *pb.BotMessage) {
		writing.Lock()
		defer writing.Unlock()
		if ctx.Err() == nil {
			_ = stream.Send(message) // where it fails, the next read ends too and says why
		}
	}
	send(stream.Context(), hello(bot, token))
	matches := map[string]*match{}
	for {
		message, err := stream.Recv()
		if err != nil {
			return ended(err)
		}
		connecting.Stop()
		switch body := message.Body.(type) {
		case *pb.RefereeMessage_MatchStart:
			started := newMatch()
			matches[body.MatchStart.Match] = started
			go func() {
				if err := started.play(bot, body.MatchStart, send); err != nil {
					Fail(err)
				}
			}()
		case *pb.RefereeMessage_Decide:
			deliver(matches, body.Decide.Match, message)
		case *pb.RefereeMessage_Update:
			deliver(matches, body.Update.Match, message)
		case *pb.RefereeMessage_Cancel:
			deliver(matches, body.Cancel.Match, message)
		case *pb.RefereeMessage_MatchEnd:
			deliver(matches, body.MatchEnd.Match, message)
			delete(matches, body.MatchEnd.Match)
		case *pb.RefereeMessage_Bye:
			return stream.CloseSend()
		}
	}
}

func deliver(matches map[string]*match, id string, message *pb.RefereeMessage) {
	if match := matches[id]; match != nil {
		match.deliver(message)
	}
}

func ended(err error) error {
	state := status.Convert(err)
	said := state.Message()
	if said == "" || said == "EOF" {
		said = state.Code().String()
	}
	return fmt.Errorf("the referee ended the stream: %s", said)
}

func hello(bot *Bot, token string) *pb.BotMessage {
	return &pb.BotMessage{Body: &pb.BotMessage_Hello{Hello: &pb.Hello{
		Protocol:           protocol,
		Token:              token,
		Name:               bot.Name,
		Version:            bot.Version,
		Games:              bot.Games,
		MaxParallelMatches: bot.ParallelMatches,
		WantsUpdates:       bot.WantsUpdates,
		OmitObservation:    bot.OmitObservation,
		OmitLegalActions:   bot.OmitLegalActions,
	}}}
}
