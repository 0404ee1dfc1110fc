#include "crosstown/luck.h"

namespace crosstown {
namespace {

constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;

std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace

std::uint32_t FairIndex(std::uint64_t bot_seed, std::uint32_t decision, std::uint32_t count) {
  const std::uint64_t unfair = (0 - std::uint64_t{count}) % count;  // 2^64 mod count
  std::uint64_t state = Mix(bot_seed + decision);
  std::uint64_t value = 0;
  do {
    state += kStep;
    value = Mix(state);
  } while (value < unfair);
  return static_cast<std::uint32_t>(value % count);
}

}  // namespace crosstown
