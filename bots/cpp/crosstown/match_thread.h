// One match on a thread of its own, so that a player who thinks keeps nothing else waiting.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "crosstown/bot.h"

namespace crosstown {

/// Runs a player through its match. The thread keeps the object alive and ends with the match.
class MatchThread : public std::enable_shared_from_this<MatchThread> {
 public:
  /// Sends a message, unless `is_late` says, when its turn has come, that nobody waits for it any
  /// more.
  using Send = std::function<void(const v1::BotMessage&, const std::function<bool()>& is_late)>;

  /// `bot` and what `send` refers to must outlive the process's threads.
  MatchThread(const Bot& bot, Send send) : bot_(bot), send_(std::move(send)) {}

  void Start(v1::MatchStart start);
  /// Hands over a message about the match; none of them waits for the player.
  void Deliver(v1::RefereeMessage message);

 private:
  void Play(const v1::MatchStart& start);
  v1::RefereeMessage Take();

  const Bot& bot_;
  const Send send_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<v1::RefereeMessage> inbox_;
  /// Decisions up to this number are closed.
  std::atomic<std::uint32_t> closed_{0};
};

}  // namespace crosstown
