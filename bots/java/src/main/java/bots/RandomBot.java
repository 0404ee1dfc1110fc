package bots;

import crosstown.Answer;
import crosstown.Bot;
import crosstown.Luck;
import crosstown.Player;
import crosstown.Turn;
import java.util.List;

/** Plays any game: takes one of the legal actions by chance. */
record RandomBot(long seed) implements Player {
  // It only counts, so it does not look (the second false), which is quicker. Make that true to
  // read observations and legal actions.
  static final Bot BOT =
      new Bot(
          "random", "1", List.of(), 4, false, false, match -> new RandomBot(match.getBotSeed()));

  @Override
  public Answer choose(Turn turn) {
    return new Answer.Index(Luck.fairIndex(seed, turn.number(), turn.legalCount()));
  }
}
