package bots;

import crosstown.v1.king_of_new_york.KingOfNewYork.Borough;
import crosstown.v1.king_of_new_york.KingOfNewYork.Face;
import crosstown.v1.king_of_new_york.KingOfNewYork.LegalActions.Kind;
import crosstown.v1.king_of_new_york.KingOfNewYork.Observation;
import crosstown.v1.king_of_new_york.KingOfNewYork.Setting;
import java.util.List;
import java.util.stream.IntStream;

/** What one monster can want where it stands, in victory points. */
final class Street {
  private static final int UNITS = 3;
  private static final int STACKS = 3;
  private static final int FACES = 6;
  private static final double ENERGY_WORTH = 0.45;
  private static final double DAMAGE_WORTH = 0.4;
  private static final double UNIT_DANGER = 0.25;
  private static final double CARD_WORTH_BY_COST = 0.4;
  private static final double INCOME = 2.0;
  private static final double DAMAGE_BY_OPPONENT = 1.2;

  /** What hurts for each Unit comes first, then what heals; what makes others flee comes last. */
  private static final List<Face> ORDER =
      List.of(
          Face.FACE_OUCH,
          Face.FACE_HEART,
          Face.FACE_ENERGY,
          Face.FACE_CELEBRITY,
          Face.FACE_DESTRUCTION,
          Face.FACE_ATTACK);

  private final Observation seen;
  private final Setting setting;
  private final int seat;
  private final int life;
  private final int borough;

  Street(Observation seen, int seat) {
    this.seen = seen;
    this.setting = seen.getSetting();
    this.seat = seat;
    this.life = seen.getSeats().getLife(seat);
    this.borough = seen.getSeats().getBorough(seat);
  }

  /**
   * Of an action as the columns of LegalActions list it. What is not named, passing for one, is
   * worth nothing.
   */
  double worth(Kind kind, int value) {
    return switch (kind) {
      case KIND_REROLL -> worthOfRolling(value);
      case KIND_RESOLVE -> FACES - ORDER.indexOf(Face.forNumber(value));
      case KIND_DESTROY_BUILDING -> worthOfBuilding(value);
      case KIND_DESTROY_UNIT -> worthOfUnit(value / 16);
      case KIND_STAY -> worthOfBorough(borough) + 0.1;
      case KIND_PLACE, KIND_MOVE, KIND_DASH, KIND_RIDE, KIND_FLEE, KIND_LEAVE ->
          worthOfBorough(value);
      case KIND_BUY -> CARD_WORTH_BY_COST * setting.getCardCosts(value);
      case KIND_DISCARD -> -CARD_WORTH_BY_COST * setting.getCardCosts(value);
      case KIND_REMOVE,
          KIND_SWAP,
          KIND_GIVE_UP,
          KIND_REDIRECT,
          KIND_SWEEP,
          KIND_SCAVENGE,
          KIND_PAY,
          KIND_SHED ->
          -1;
      default -> 0;
    };
  }

  /**
   * Dice rolled again are worth the mean of all faces instead of what they show: six counts, four
   * bits each.
   */
  private double worthOfRolling(int counts) {
    double mean = IntStream.range(0, FACES).mapToDouble(this::worthOfFace).average().orElseThrow();
    return IntStream.range(0, FACES)
        .mapToDouble(face -> (counts >> (4 * face) & 15) * (mean - worthOfFace(face)))
        .sum();
  }

  /** Of one more die that shows it. */
  private double worthOfFace(int face) {
    return switch (Face.forNumber(face)) {
      case FACE_ENERGY -> ENERGY_WORTH;
      case FACE_ATTACK -> DAMAGE_WORTH * inReach();
      case FACE_DESTRUCTION -> 0.6;
      case FACE_HEART -> inManhattan() || life >= setting.getMaxLife() ? 0 : worthOfLife();
      case FACE_CELEBRITY -> {
        boolean star = seen.getCards().getSuperstarSeat() == seat;
        yield star || seen.getTurnState().getDice(Face.FACE_CELEBRITY_VALUE) >= 2 ? 1.0 : 0.2;
      }
      default -> -worthOfLife() * units(borough) / 2 - 0.1;
    };
  }

  private boolean inManhattan() {
    return borough == Borough.BOROUGH_MANHATTAN_VALUE;
  }

  /** Opponents that an attack hurts: those outside of Manhattan, or those inside. */
  private long inReach() {
    return IntStream.range(0, setting.getPlayers())
        .filter(other -> other != seat && seen.getHoldings().getOut(other) == 0)
        .filter(
            other ->
                (seen.getSeats().getBorough(other) == Borough.BOROUGH_MANHATTAN_VALUE)
                    != inManhattan())
        .count();
  }

  private long opponents() {
    return IntStream.range(0, setting.getPlayers())
        .filter(other -> other != seat && seen.getHoldings().getOut(other) == 0)
        .count();
  }

  /** Of one point of life: the fewer are left, the more. */
  private double worthOfLife() {
    return 0.4 + 2.0 / Math.max(1, life);
  }

  private double gain(int vp, int energy, int healed) {
    return vp
        + ENERGY_WORTH * energy
        + worthOfLife() * Math.min(healed, setting.getMaxLife() - life);
  }

  private double worthOfBuilding(int stack) {
    int tile = seen.getBoard().getTops(stack) - 1;
    if (tile < 0) {
      return 0;
    }
    return gain(setting.getTileVp(tile), setting.getTileEnergy(tile), setting.getTileLife(tile))
        - UNIT_DANGER;
  }

  private double worthOfUnit(int unit) {
    return gain(setting.getUnitVp(unit), setting.getUnitEnergy(unit), setting.getUnitLife(unit))
        + UNIT_DANGER;
  }

  private int units(int where) {
    return where > Borough.BOROUGH_STATEN_ISLAND_VALUE
        ? 0
        : IntStream.range(UNITS * where, UNITS * (where + 1)).map(seen.getBoard()::getUnits).sum();
  }

  /** Of standing there when the next turn comes. */
  private double worthOfBorough(int where) {
    if (where == Borough.BOROUGH_MANHATTAN_VALUE) {
      double damage = DAMAGE_BY_OPPONENT * opponents();
      return INCOME - damage * worthOfLife() - (life <= 2 * damage ? 10 : 0);
    }
    if (where > Borough.BOROUGH_STATEN_ISLAND_VALUE) {
      return 0;
    }
    double buildings =
        IntStream.range(STACKS * where, STACKS * (where + 1))
            .mapToDouble(this::worthOfBuilding)
            .max()
            .orElse(0);
    return buildings / 2 - UNIT_DANGER * units(where);
  }
}
