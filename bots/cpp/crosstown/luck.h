// Luck that is the same in every language's starter, so that a match can be played again.
#pragma once

#include <cstdint>

namespace crosstown {

/// A number from 0 to count-1, each as likely, that depends on nothing but its arguments.
///
/// splitmix64 from the state mix(bot_seed + decision); numbers below 2^64 mod count are drawn
/// again, so that the remainder of the first one kept favours none. All sums and products are
/// modulo 2^64. `count` must not be 0.
std::uint32_t FairIndex(std::uint64_t bot_seed, std::uint32_t decision, std::uint32_t count);

}  // namespace crosstown
