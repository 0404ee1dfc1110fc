#include "streets.h"

#include <cstddef>

namespace {

constexpr Board kWest = 0x0101010101010101;
constexpr Board kEast = kWest << 7;

Board Flood(Board seed, Board area) {
  Board reached = seed & area;
  while (true) {
    const Board grown = (reached | reached << 8 | reached >> 8 | (reached & ~kEast) << 1 |
                         (reached & ~kWest) >> 1) &
                        area;
    if (grown == reached) {
      return reached;
    }
    reached = grown;
  }
}

}  // namespace

Streets::Streets(const std::string& looks) {
  auto& [black, white, round, square] = areas_;
  for (std::size_t field = 0; field < looks.size(); ++field) {
    const int look = looks[field];
    if (look != 0) {
      (look <= 2 ? black : white) |= Board{1} << field;
      (look % 2 == 1 ? round : square) |= Board{1} << field;
    }
  }
}

Board Streets::Reach(Board start, Board taken) const {
  Board reached = start;
  for (const Board area : areas_) {
    if ((area & start) != 0) {
      reached |= Flood(start, (area & ~taken) | start);
    }
  }
  return reached;
}

std::vector<Board> Streets::MovesTo(Board goals, Board stops, Board taken) const {
  std::vector<Board> layers{goals};
  Board seen = goals;
  Board frontier = goals;
  while (frontier != 0 && layers.size() < kFar) {
    Board near = 0;
    for (const Board area : areas_) {
      near |= Flood(frontier, area & ~taken);
    }
    near &= ~seen;
    layers.push_back(near);
    seen |= near;
    frontier = near & stops;
  }
  return layers;
}

int Distance(const std::vector<Board>& layers, Board fields) {
  for (std::size_t moves = 0; moves < layers.size(); ++moves) {
    if ((layers[moves] & fields) != 0) {
      return static_cast<int>(moves);
    }
  }
  return kFar;
}
