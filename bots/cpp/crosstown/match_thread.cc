#include "crosstown/match_thread.h"

#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace crosstown {

void MatchThread::Start(v1::MatchStart start) {
  std::thread([self = shared_from_this(), start = std::move(start)] {
    try {
      self->Play(start);
    } catch (const std::exception& error) {
      Fail(std::string("the player failed: ") + error.what());
    }
  }).detach();
}

void MatchThread::Deliver(v1::RefereeMessage message) {
  if (message.has_cancel()) {
    closed_.store(message.cancel().decision());
    return;
  }
  if (message.has_match_end()) {
    closed_.store(std::numeric_limits<std::uint32_t>::max());
  }
  {
    const std::lock_guard lock(mutex_);
    inbox_.push_back(std::move(message));
  }
  arrived_.notify_one();
}

void MatchThread::Play(const v1::MatchStart& start) {
  const std::unique_ptr<Player> player = bot_.start(start);
  v1::BotMessage ready;
  ready.mutable_ready()->set_match(start.match());
  send_(ready, [] { return false; });
  while (true) {
    const v1::RefereeMessage message = Take();
    if (message.has_decide()) {
      Turn turn(message.decide(), closed_, bot_);
      Answer answer = player->Choose(turn);
      send_(std::move(answer).ToMessage(message.decide(), std::move(turn.note)),
            [&turn] { return turn.Closed(); });
    } else if (message.has_update()) {
      player->Update(message.update());
    } else {
      player->End(message.match_end());
      return;
    }
  }
}

v1::RefereeMessage MatchThread::Take() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !inbox_.empty(); });
  v1::RefereeMessage message = std::move(inbox_.front());
  inbox_.pop_front();
  return message;
}

void Turn::MustWant(std::string_view what) const {
  if (what == "observation" ? bot_.wants_observation : bot_.wants_legal_actions) return;
  const std::string name(what);
  Fail("turn." + name + " is not sent: your Bot says .wants_" + name +
       " = false; take that line out of it");
}

v1::BotMessage Answer::ToMessage(const v1::Decide& decide, std::string note) && {
  v1::BotMessage message;
  if (std::holds_alternative<std::monostate>(choice_)) {
    message.mutable_resign()->set_match(decide.match());
    return message;
  }
  v1::Move& move = *message.mutable_move();
  move.set_match(decide.match());
  move.set_decision(decide.decision());
  move.set_note(std::move(note));
  if (auto* action = std::get_if<std::string>(&choice_)) {
    move.set_action(std::move(*action));
  } else {
    move.set_index(std::get<std::uint32_t>(choice_));
  }
  return message;
}

}  // namespace crosstown
