package crosstown;

import crosstown.v1.RefereeOuterClass.MatchEnd;
import crosstown.v1.RefereeOuterClass.Update;

/** Plays one match. An exception ends the process: that is a crash, which loses the match. */
public interface Player {
  /** Answers one question. */
  Answer choose(Turn turn) throws Exception;

  /** Others have moved; only with {@link Bot#wantsUpdates}. */
  default void update(Update update) throws Exception {}

  /** The match is over. */
  default void end(MatchEnd end) throws Exception {}
}
