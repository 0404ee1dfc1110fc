// One program, several players: the option `player` of bot.toml, or of the tournament, says which
// one plays.
#include "crosstown/bot.h"
#include "crosstown/options.h"
#include "players.h"

int main() {
  const std::string player = crosstown::TextOption("player", "random");
  if (player == "random") {
    crosstown::Run(RandomBot());
  }
  if (player == "shibuya") {
    crosstown::Run(ShibuyaBot());
  }
  crosstown::Fail("option player is '" + player + "': expected random or shibuya");
}
