package crosstown;

import crosstown.v1.RefereeOuterClass.MatchStart;
import java.util.List;
import java.util.function.Function;

/**
 * What the bot tells the referee about itself, and how it begins a match.
 *
 * @param games ids of the games it plays; none: any
 * @param parallelMatches matches it plays at the same time, each on its own thread
 * @param wantsUpdates asks for {@link Player#update} to be called while others move
 * @param looks false saves the work of encoding observations and legal actions: only counts are
 *     sent, and {@link Turn#observation} and {@link Turn#legalActions} fail
 * @param start makes the player of a match; the limit is the one for becoming ready
 */
public record Bot(
    String name,
    String version,
    List<String> games,
    int parallelMatches,
    boolean wantsUpdates,
    boolean looks,
    Function<MatchStart, Player> start) {}
