package crosstown;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import crosstown.v1.RefereeOuterClass.BotMessage;
import crosstown.v1.RefereeOuterClass.Decide;
import crosstown.v1.RefereeOuterClass.Move;
import crosstown.v1.RefereeOuterClass.Resign;

/** What a player answers. */
public sealed interface Answer {
  /** A position in the list of legal actions, below {@link Turn#legalCount}. */
  record Index(int index) implements Answer {}

  /** The game's Action message. */
  record Action(ByteString bytes) implements Answer {
    public Action(MessageLite action) {
      this(action.toByteString());
    }
  }

  /** Gives the match up. */
  record GiveUp() implements Answer {}

  /** The answer as a message to the referee. */
  default BotMessage toMessage(Decide decide, String note) {
    if (this instanceof GiveUp) {
      Resign resign = Resign.newBuilder().setMatch(decide.getMatch()).build();
      return BotMessage.newBuilder().setResign(resign).build();
    }
    Move.Builder move =
        Move.newBuilder()
            .setMatch(decide.getMatch())
            .setDecision(decide.getDecision())
            .setNote(note);
    if (this instanceof Index choice) {
      move.setIndex(choice.index());
    } else if (this instanceof Action choice) {
      move.setAction(choice.bytes());
    }
    return BotMessage.newBuilder().setMove(move).build();
  }
}
