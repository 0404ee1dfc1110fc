// Plays any game: takes one of the legal actions by chance.
#include "crosstown/luck.h"
#include "players.h"

namespace {

class RandomPlayer : public crosstown::Player {
 public:
  explicit RandomPlayer(std::uint64_t seed) : seed_(seed) {}

  crosstown::Answer Choose(crosstown::Turn& turn) override {
    return crosstown::FairIndex(seed_, turn.number(), turn.legal_count());
  }

 private:
  const std::uint64_t seed_;
};

}  // namespace

crosstown::Bot RandomBot() {
  return {
      .name = "random",
      .version = "1",
      .games = {},
      .parallel_matches = 4,
      // It only counts, so neither is sent, which is quicker. Take the two lines out to read them.
      .wants_observation = false,
      .wants_legal_actions = false,
      .start = [](const auto& match) { return std::make_unique<RandomPlayer>(match.bot_seed()); },
  };
}
