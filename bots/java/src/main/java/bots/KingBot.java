package bots;

import crosstown.Answer;
import crosstown.Bot;
import crosstown.Luck;
import crosstown.Player;
import crosstown.Turn;
import crosstown.v1.king_of_new_york.KingOfNewYork.LegalActions;
import crosstown.v1.king_of_new_york.KingOfNewYork.Observation;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Plays King of New York: rolls for what helps most where it stands, and stays alive. */
record KingBot(long seed, int seat) implements Player {
  static final Bot BOT =
      new Bot(
          "king",
          "1",
          List.of("king_of_new_york"),
          4,
          false,
          true,
          match -> new KingBot(match.getBotSeed(), match.getSeat()));

  @Override
  public Answer choose(Turn turn) throws Exception {
    Observation seen = turn.observation(Observation.parser());
    LegalActions legal = turn.legalActions(LegalActions.parser());
    Street street = new Street(seen, seat);
    double[] worths =
        IntStream.range(0, turn.legalCount())
            .mapToDouble(index -> street.worth(legal.getKinds(index), legal.getValues(index)))
            .toArray();
    return new Answer.Index(best(worths, turn.number()));
  }

  /** One of the highest, by chance. */
  private int best(double[] worths, int decision) {
    double top = Arrays.stream(worths).max().orElseThrow();
    int[] ties = IntStream.range(0, worths.length).filter(index -> worths[index] == top).toArray();
    return ties[Luck.fairIndex(seed, decision, ties.length)];
  }
}
