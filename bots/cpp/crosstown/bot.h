// Write a bot: a Player that answers one question at a time, and a Bot that makes one for each
// match.
#pragma once

#include <google/protobuf/message_lite.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "crosstown/v1/referee.pb.h"

namespace crosstown {

/// Prints a sentence for the bot's author on stderr and ends the process with exit code 1.
[[noreturn]] void Fail(const std::string& sentence);

/// Parses a game's message, such as Observation; a message of another game ends the process with a
/// sentence.
template <typename Message>
Message Parse(const std::string& bytes) {
  Message message;
  if (!message.ParseFromString(bytes)) {
    Fail("these bytes are no " + message.GetTypeName() + ": is it another game?");
  }
  return message;
}

/// What a player answers: an index below Turn::legal_count, an Action message of the game, or
/// Resign().
class Answer {
 public:
  Answer(std::uint32_t index) : choice_(index) {}  // NOLINT: `return 0;` is an answer
  explicit Answer(const google::protobuf::MessageLite& action)
      : choice_(action.SerializeAsString()) {}
  static Answer Resign() { return Answer(); }

  /// The answer as a message to the referee. Takes the note.
  v1::BotMessage ToMessage(const v1::Decide& decide, std::string note) &&;

 private:
  Answer() = default;

  std::variant<std::monostate, std::uint32_t, std::string> choice_;
};

struct Bot;

/// One question.
class Turn {
 public:
  Turn(const v1::Decide& decide, const std::atomic<std::uint32_t>& closed, const Bot& bot)
      : decide_(decide), closed_(closed), bot_(bot) {}

  /// The game's name for the question, such as "turn".
  const std::string& kind() const { return decide_.kind(); }
  /// Number of the decision within the match, over all seats, ascending from 1.
  std::uint32_t number() const { return decide_.decision(); }
  /// Legal answers are 0 to legal_count-1. 0 is the harmless one where there is one.
  std::uint32_t legal_count() const { return decide_.legal_count(); }
  /// Time for this answer when the referee sent the question, with all that bank or total can give,
  /// microseconds; at 0 none is left. message().clock() says how much of it is bank or total, which
  /// later answers lack.
  std::uint64_t left_us() const { return decide_.clock().left_us(); }
  /// The game's Observation, LegalActions or Events message. One that the Bot does not want ends
  /// the process with a sentence.
  template <typename Message>
  Message Observation() const {
    MustWant("observation");
    return Parse<Message>(decide_.observation());
  }
  template <typename Message>
  Message LegalActions() const {
    MustWant("legal_actions");
    return Parse<Message>(decide_.legal_actions());
  }
  template <typename Message>
  Message Events() const {
    return Parse<Message>(decide_.events());
  }
  /// Whether the referee has closed the question, so that an answer would be dropped. Ask it in
  /// long loops.
  bool Closed() const { return closed_.load(std::memory_order_relaxed) >= number(); }
  /// Everything else that the referee sent.
  const v1::Decide& message() const { return decide_; }

  /// Stands beside the move in the record.
  std::string note;

 private:
  void MustWant(std::string_view what) const;

  const v1::Decide& decide_;
  const std::atomic<std::uint32_t>& closed_;
  const Bot& bot_;
};

/// Plays one match. An exception ends the process: that is a crash, which loses the match.
class Player {
 public:
  virtual ~Player() = default;
  virtual Answer Choose(Turn& turn) = 0;
  /// Others have moved; only with Bot::wants_updates.
  virtual void Update(const v1::Update& /*update*/) {}
  virtual void End(const v1::MatchEnd& /*end*/) {}
};

/// What the bot tells the referee about itself, and how it begins a match.
struct Bot {
  std::string name;
  std::string version;
  /// Ids of the games it plays; empty: any.
  std::vector<std::string> games;
  /// Matches it plays at the same time, each on its own thread.
  std::uint32_t parallel_matches = 1;
  bool wants_updates = false;
  /// False saves the work of encoding what is not looked at; it is then not there.
  bool wants_observation = true;
  bool wants_legal_actions = true;
  /// Makes the player of a match. There is time: the limit is the one for becoming ready.
  std::function<std::unique_ptr<Player>(const v1::MatchStart&)> start;
};

/// Plays until the referee says Bye, then ends the process with exit code 0; with 1 and a sentence
/// if something is wrong.
[[noreturn]] void Run(const Bot& bot);

}  // namespace crosstown
