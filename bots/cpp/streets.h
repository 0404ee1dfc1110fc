// How far it is from any field to a goal, counted in moves. A Board has the bit 1 << field for each
// field x + 8*y.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

using Board = std::uint64_t;

/// Moves to a goal that cannot be reached on the streets as they are.
inline constexpr int kFar = 9;

inline Board Bit(std::uint32_t field) { return Board{1} << field; }

template <typename Fields>
Board Mask(const Fields& fields) {
  Board board = 0;
  for (const auto field : fields) {
    board |= Bit(static_cast<std::uint32_t>(field));
  }
  return board;
}

/// The laid fields by what one may walk on without changing pace: one colour, or one shape.
class Streets {
 public:
  /// `looks` as in the Observation message: 64 bytes.
  explicit Streets(const std::string& looks);

  /// Where a pedestrian on `start` (one bit) can walk past the `taken` fields; `start` included.
  Board Reach(Board start, Board taken) const;

  /// Layer n holds the fields that are n moves away from `goals`; between moves only `stops` may be
  /// stood on.
  std::vector<Board> MovesTo(Board goals, Board stops, Board taken) const;

 private:
  /// Black, white, round, square.
  std::array<Board, 4> areas_{};
};

/// Moves from the nearest of `fields` along layers of MovesTo.
int Distance(const std::vector<Board>& layers, Board fields);
