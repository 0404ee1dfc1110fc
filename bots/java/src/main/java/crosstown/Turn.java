package crosstown;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import crosstown.v1.RefereeOuterClass.Decide;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** One question. */
public final class Turn {
  private final Decide decide;
  private final AtomicLong closed;
  private final boolean looks;
  private String note = "";

  Turn(Decide decide, AtomicLong closed, boolean looks) {
    this.decide = decide;
    this.closed = closed;
    this.looks = looks;
  }

  /** The game's name for the question, such as "turn". */
  public String kind() {
    return decide.getKind();
  }

  /** Number of the decision within the match, over all seats, ascending. */
  public int number() {
    return decide.getDecision();
  }

  /** Legal answers are 0 to legalCount-1. 0 is the harmless one where there is one. */
  public int legalCount() {
    return decide.getLegalCount();
  }

  /**
   * Time for this answer when the referee sent the question, with all that bank or total can give;
   * at zero none is left. The clock in {@link #message} says how much of it is bank or total, which
   * later answers lack.
   */
  public Duration left() {
    return Duration.ofNanos(1000 * decide.getClock().getLeftUs());
  }

  /** The game's Observation message; only for a bot that looks. */
  public <T> T observation(Parser<T> parser) throws InvalidProtocolBufferException {
    mustLook("the observation is");
    return parser.parseFrom(decide.getObservation());
  }

  /** The game's LegalActions message; only for a bot that looks. */
  public <T> T legalActions(Parser<T> parser) throws InvalidProtocolBufferException {
    mustLook("the legal actions are");
    return parser.parseFrom(decide.getLegalActions());
  }

  /** The game's Events message: what this seat saw happen since the last message to it. */
  public <T> T events(Parser<T> parser) throws InvalidProtocolBufferException {
    return parser.parseFrom(decide.getEvents());
  }

  /** Whether the referee has closed the question: an answer would be dropped. For long loops. */
  public boolean isClosed() {
    return closed.get() >= Integer.toUnsignedLong(number());
  }

  /** Stands beside the move in the record. */
  public void note(String text) {
    note = text;
  }

  private void mustLook(String what) {
    if (!looks) {
      throw new IllegalStateException(
          what + " not sent: your Bot has looks = false; make it true, its sixth value");
    }
  }

  String note() {
    return note;
  }

  /** All that the referee sent. */
  public Decide message() {
    return decide;
  }
}
