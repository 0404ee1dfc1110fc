// Plays Shibuya: each move the one that saves most moves on the way to the goals; each tile where
// it helps most.
#include <google/protobuf/repeated_field.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "crosstown/luck.h"
#include "crosstown/v1/shibuya.pb.h"
#include "players.h"
#include "streets.h"

namespace {

namespace pb = crosstown::v1::shibuya;
using Fields = google::protobuf::RepeatedField<std::uint32_t>;

constexpr std::uint32_t kOffGrid = 64;
constexpr int kGoalWorth = 100;
constexpr int kMoveWorth = 10;
constexpr int kBuildWorth = kMoveWorth / 2;

/// One team as it stands.
struct Side {
  const Fields& starts;
  Board standing;
  /// Fields in front of the starts where somebody waits.
  std::vector<std::uint32_t> entrances;
  /// Fields before goals with room.
  Board open_goals;
  /// Fields before its own starts and goals, where the other team may not stop.
  Board own_ground;

  Side(const pb::Team& team, const Fields& fields, const Fields& waiting, const Fields& goals)
      : starts(team.start_fronts()),
        standing(Mask(fields)),
        open_goals(0),
        own_ground(Mask(team.start_fronts()) | Mask(team.goal_fronts())) {
    for (const std::uint32_t start : waiting) {
      entrances.push_back(starts.Get(static_cast<int>(start)));
    }
    for (int goal = 0; goal < goals.size(); ++goal) {
      if (goals.Get(goal) == 0) {
        open_goals |= Bit(team.goal_fronts(goal));
      }
    }
  }

  std::uint32_t FieldOf(std::uint32_t place) const {
    return place < kOffGrid ? place : starts.Get(static_cast<int>(place - kOffGrid));
  }
};

std::vector<Board> Ways(const Streets& streets, const Side& team, const Side& other) {
  const Board taken = team.standing | other.standing;
  const Board stops = ~(other.own_ground | taken);
  return streets.MovesTo(team.open_goals & stops, stops, taken);
}

/// Moves that all pedestrians of a team are away from their goals, summed.
int MovesLeft(const Streets& streets, const Side& team, const Side& other) {
  const std::vector<Board> layers = Ways(streets, team, other);
  const Board taken = team.standing | other.standing;
  std::vector<std::uint32_t> fields = team.entrances;
  for (std::uint32_t field = 0; field < 64; ++field) {
    if ((team.standing & Bit(field)) != 0) {
      fields.push_back(field);
    }
  }
  int sum = 0;
  for (const std::uint32_t field : fields) {
    sum += std::min(kFar, 1 + Distance(layers, streets.Reach(Bit(field), taken & ~Bit(field))));
  }
  return sum;
}

/// Fields to walk in a city without houses to the nearest goal with room.
int FieldsLeft(std::uint32_t field, const Side& me) {
  int nearest = me.open_goals == 0 ? 0 : 14;
  for (std::uint32_t goal = 0; goal < 64; ++goal) {
    if ((me.open_goals & Bit(goal)) != 0) {
      const int across = static_cast<int>(goal % 8) - static_cast<int>(field % 8);
      const int along = static_cast<int>(goal / 8) - static_cast<int>(field / 8);
      nearest = std::min(nearest, std::abs(across) + std::abs(along));
    }
  }
  return nearest;
}

std::string LooksWithTile(const pb::Observation& seen, std::uint32_t slot, std::uint32_t turn) {
  // A tile lists its fields clockwise from the top left; a quarter turn clockwise moves each one
  // place on.
  constexpr std::array<std::uint32_t, 4> kOffsets = {8, 9, 1, 0};
  std::string looks = seen.looks();
  const std::uint32_t corner = slot % 4 * 2 + slot / 4 * 16;
  for (std::uint32_t position = 0; position < 4; ++position) {
    looks[corner + kOffsets[position]] =
        seen.setting().tile_looks()[4 * seen.drawn_kind() + (position + 4 - turn) % 4];
  }
  return looks;
}

class ShibuyaPlayer : public crosstown::Player {
 public:
  explicit ShibuyaPlayer(const crosstown::v1::MatchStart& match)
      : seed_(match.bot_seed()), seat_(match.seat()) {}

  crosstown::Answer Choose(crosstown::Turn& turn) override {
    const auto seen = turn.Observation<pb::Observation>();
    const auto legal = turn.LegalActions<pb::LegalActions>();
    const pb::Setting& setting = seen.setting();
    const std::array<Side, 2> sides = {
        Side(setting.red(), seen.red_fields(), seen.red_waiting(), seen.red_goals()),
        Side(setting.blue(), seen.blue_fields(), seen.blue_waiting(), seen.blue_goals())};
    const Side& me = sides[seat_ % 2];
    const Side& other = sides[1 - seat_ % 2];
    const std::vector<int> worths = legal.kinds(0) == pb::LegalActions::KIND_PLACE
                                        ? WorthsOfTiles(seen, legal, me, other)
                                        : WorthsOfMoves(seen, legal, me, other);
    return Best(worths, turn.number());
  }

 private:
  static std::vector<int> WorthsOfTiles(const pb::Observation& seen, const pb::LegalActions& legal,
                                        const Side& me, const Side& other) {
    std::vector<int> worths;
    for (int index = 0; index < legal.kinds_size(); ++index) {
      const Streets streets(
          LooksWithTile(seen, legal.source_or_slot(index), legal.target_or_turn(index)));
      worths.push_back(MovesLeft(streets, other, me) - MovesLeft(streets, me, other));
    }
    return worths;
  }

  std::vector<int> WorthsOfMoves(const pb::Observation& seen, const pb::LegalActions& legal,
                                 const Side& me, const Side& other) {
    const Streets streets(seen.looks());
    const std::vector<Board> layers = Ways(streets, me, other);
    const Board taken = me.standing | other.standing;
    ++been_[me.standing];
    std::vector<int> worths;
    for (int index = 0; index < legal.kinds_size(); ++index) {
      if (legal.kinds(index) != pb::LegalActions::KIND_MOVE) {
        worths.push_back(legal.kinds(index) == pb::LegalActions::KIND_BUILD ? kBuildWorth : 0);
        continue;
      }
      const std::uint32_t source = legal.source_or_slot(index);
      const std::uint32_t target = legal.target_or_turn(index);
      const std::uint32_t from = me.FieldOf(source);
      if (target >= kOffGrid) {  // a near pedestrian can still go when the streets have changed
        worths.push_back(kGoalWorth + FieldsLeft(from, me));
        continue;
      }
      const int saved = Distance(layers, streets.Reach(Bit(from), taken & ~Bit(from))) -
                        Distance(layers, Bit(target));
      const int entered = source >= kOffGrid ? 1 : 0;
      const Board after =
          (source >= kOffGrid ? me.standing : me.standing & ~Bit(source)) | Bit(target);
      const auto repeated = been_.find(after);
      worths.push_back(kMoveWorth * (saved - (repeated == been_.end() ? 0 : repeated->second)) +
                       FieldsLeft(from, me) - FieldsLeft(target, me) + entered);
    }
    return worths;
  }

  /// One of the best, by chance.
  std::uint32_t Best(const std::vector<int>& worths, std::uint32_t decision) const {
    const int top = *std::max_element(worths.begin(), worths.end());
    const auto ties = static_cast<std::uint32_t>(std::count(worths.begin(), worths.end(), top));
    std::uint32_t left = crosstown::FairIndex(seed_, decision, ties);
    std::uint32_t index = 0;
    while (worths[index] != top || left-- > 0) {
      ++index;
    }
    return index;
  }

  const std::uint64_t seed_;
  const std::uint32_t seat_;
  /// How often each arrangement of the own pedestrians was left: going round in circles gets
  /// dearer.
  std::map<Board, int> been_;
};

}  // namespace

crosstown::Bot ShibuyaBot() {
  return {
      .name = "shibuya",
      .version = "1",
      .games = {"shibuya"},
      .parallel_matches = 4,
      .start = [](const auto& match) { return std::make_unique<ShibuyaPlayer>(match); },
  };
}
