package bots;

import crosstown.Bot;
import crosstown.Client;
import java.util.Map;

/**
 * One program, several players: the option {@code player} of bot.toml, or of the tournament, says
 * which.
 */
final class Main {
  private static final Map<String, Bot> BOTS = Map.of("random", RandomBot.BOT, "king", KingBot.BOT);

  private Main() {}

  public static void main(String[] arguments) throws InterruptedException {
    String player = Client.option("player", "random");
    Bot bot = BOTS.get(player);
    if (bot == null) {
      Client.fail("option player is '" + player + "': expected random or king");
    }
    Client.run(bot);
  }
}
