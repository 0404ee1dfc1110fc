package crosstown;

import crosstown.v1.RefereeOuterClass.BotMessage;
import crosstown.v1.RefereeOuterClass.MatchStart;
import crosstown.v1.RefereeOuterClass.Ready;
import crosstown.v1.RefereeOuterClass.RefereeMessage;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/** One match on a thread of its own, so that a player who thinks keeps nothing else waiting. */
final class Playing {
  private final Bot bot;
  private final MatchStart start;
  private final BiConsumer<BotMessage, BooleanSupplier> send;
  private final BlockingQueue<RefereeMessage> inbox = new LinkedBlockingQueue<>();

  /** Decisions up to this number are closed. */
  private final AtomicLong closed = new AtomicLong();

  Playing(Bot bot, MatchStart start, BiConsumer<BotMessage, BooleanSupplier> send) {
    this.bot = bot;
    this.start = start;
    this.send = send;
    Thread thread = new Thread(this::run, "match " + start.getMatch());
    thread.setDaemon(true);
    thread.start();
  }

  /** Hands over a message about the match. */
  void deliver(RefereeMessage message) {
    if (message.hasCancel()) {
      closed.set(Integer.toUnsignedLong(message.getCancel().getDecision()));
      return;
    }
    if (message.hasMatchEnd()) {
      closed.set(Long.MAX_VALUE);
    }
    inbox.add(message);
  }

  // Errors too: a player that runs out of memory must not leave the referee waiting.
  @SuppressWarnings("CatchAndPrintStackTrace")
  private void run() {
    try {
      play();
    } catch (Throwable problem) {
      problem.printStackTrace();
      Client.end(1);
    }
  }

  private void play() throws Exception {
    Player player = bot.start().apply(start);
    send.accept(
        BotMessage.newBuilder().setReady(Ready.newBuilder().setMatch(start.getMatch())).build(),
        () -> false);
    while (true) {
      RefereeMessage message = inbox.take();
      if (message.hasDecide()) {
        Turn turn = new Turn(message.getDecide(), closed, bot.looks());
        Answer answer = player.choose(turn);
        send.accept(answer.toMessage(message.getDecide(), turn.note()), turn::isClosed);
      } else if (message.hasUpdate()) {
        player.update(message.getUpdate());
      } else {
        player.end(message.getMatchEnd());
        return;
      }
    }
  }
}
