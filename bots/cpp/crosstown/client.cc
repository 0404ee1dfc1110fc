// The bot's side of the wire: one stream, all its matches on it, until Bye or until the referee is
// gone.
#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "crosstown/bot.h"
#include "crosstown/match_thread.h"
#include "crosstown/v1/referee.grpc.pb.h"

namespace crosstown {
namespace {

constexpr std::uint32_t kProtocol = 1;

/// Ends the process at once: players may still be thinking on their threads.
[[noreturn]] void End(int code) {
  std::cout.flush();
  std::cerr.flush();
  std::_Exit(code);
}

std::string Required(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    Fail(std::string(name) +
         " is not set: a bot is started by the referee, for instance by `crosstown run FILE`");
  }
  return value;
}

int Seconds(const char* name, int fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : std::atoi(value);
}

bool IsUnixSocket(const std::string& address) { return address.rfind("unix:", 0) == 0; }

/// Where a plain connection may go: to another machine it would tell the token.
bool IsOnThisMachine(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon == std::string::npos ? 0 : colon);
  in_addr number;
  return IsUnixSocket(address) || host == "localhost" || host == "[::1]" ||
         (inet_pton(AF_INET, host.c_str(), &number) == 1 && host.rfind("127.", 0) == 0);
}

std::shared_ptr<grpc::ChannelCredentials> Credentials(const std::string& address) {
  const char* path = std::getenv("CROSSTOWN_TLS_CA");
  const bool has_authority = path != nullptr && *path != '\0';
  if (IsUnixSocket(address) || (!has_authority && IsOnThisMachine(address))) {
    return grpc::InsecureChannelCredentials();
  }
  if (!has_authority) {
    Fail("the referee at " + address +
         " is not on this machine, and CROSSTOWN_TLS_CA is not set: give it the path of a PEM file"
         " with the certificate of the referee or of who signed it");
  }
  std::ifstream file(path);
  if (!file) {
    Fail(std::string("CROSSTOWN_TLS_CA names ") + path +
         ", which cannot be read: expected the referee's certificate authority, a PEM file");
  }
  grpc::SslCredentialsOptions options;
  options.pem_root_certs.assign(std::istreambuf_iterator<char>(file), {});
  return grpc::SslCredentials(options);
}

std::shared_ptr<grpc::Channel> Dial(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  if (IsOnThisMachine(address)) {
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // through it a plain connection would leave
  }
  // A unix socket tells at once that the other side is gone; a network only if asked.
  if (const int pause_s = Seconds("CROSSTOWN_KEEPALIVE_S", IsUnixSocket(address) ? 0 : 20);
      pause_s > 0) {
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, pause_s * 1000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  return grpc::CreateCustomChannel(address, Credentials(address), arguments);
}

v1::BotMessage Hello(const Bot& bot, const std::string& token) {
  v1::BotMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_protocol(kProtocol);
  hello.set_token(token);
  hello.set_name(bot.name);
  hello.set_version(bot.version);
  hello.mutable_games()->Assign(bot.games.begin(), bot.games.end());
  hello.set_max_parallel_matches(bot.parallel_matches);
  hello.set_wants_updates(bot.wants_updates);
  hello.set_omit_observation(!bot.wants_observation);
  hello.set_omit_legal_actions(!bot.wants_legal_actions);
  return message;
}

/// Fails the process unless it is disarmed in time.
class Deadline {
 public:
  Deadline(std::chrono::seconds limit, std::string sentence)
      : thread_([this, limit, sentence = std::move(sentence)] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, limit, [this] { return met_; })) {
            Fail(sentence);
          }
        }) {}

  void Met() {
    {
      const std::lock_guard lock(mutex_);
      met_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool met_ = false;
  std::thread thread_;
};

}  // namespace

void Fail(const std::string& sentence) {
  std::cerr << sentence << std::endl;
  End(1);
}

void Run(const Bot& bot) {
  setenv("GRPC_VERBOSITY", "ERROR", 0);
  const std::string address = Required("CROSSTOWN_ADDRESS");
  const std::string token = Required("CROSSTOWN_TOKEN");
  const int limit_s = Seconds("CROSSTOWN_CONNECT_S", 10);
  const std::string used =
      IsUnixSocket(address)
          ? "; it takes one process for each token, and no further connection after that"
          : "";
  Deadline connected(std::chrono::seconds(limit_s), "no answer from the referee at " + address +
                                                        " within " + std::to_string(limit_s) +
                                                        " s" + used);
  const auto stub = v1::Referee::NewStub(Dial(address));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  const auto stream = stub->Play(&context);
  std::mutex writing;
  const auto send = [&stream, &writing](const v1::BotMessage& message,
                                        const std::function<bool()>& is_late) {
    const std::lock_guard lock(writing);
    if (!is_late()) {
      stream->Write(message);  // where it fails, the next read ends too and says why
    }
  };
  send(Hello(bot, token), [] { return false; });

  std::map<std::string, std::shared_ptr<MatchThread>> matches;
  v1::RefereeMessage message;
  bool welcomed = false;
  while (stream->Read(&message)) {
    if (!welcomed) {
      welcomed = true;
      connected.Met();
    }
    switch (message.body_case()) {
      case v1::RefereeMessage::kMatchStart: {
        const auto match = std::make_shared<MatchThread>(bot, send);
        matches[message.match_start().match()] = match;
        match->Start(std::move(*message.mutable_match_start()));
        break;
      }
      case v1::RefereeMessage::kBye:
        stream->WritesDone();
        End(0);
      default: {
        const std::string* id = message.has_decide()      ? &message.decide().match()
                                : message.has_update()    ? &message.update().match()
                                : message.has_cancel()    ? &message.cancel().match()
                                : message.has_match_end() ? &message.match_end().match()
                                                          : nullptr;
        if (id == nullptr) {
          break;  // Welcome, or a message of a later version
        }
        if (const auto found = matches.find(*id); found != matches.end()) {
          const std::shared_ptr<MatchThread> match = found->second;
          if (message.has_match_end()) {
            matches.erase(found);
          }
          match->Deliver(std::move(message));
        }
      }
    }
  }
  const grpc::Status status = stream->Finish();
  Fail("the referee ended the stream: " + (status.error_message().empty()
                                               ? "status " + std::to_string(status.error_code())
                                               : status.error_message()));
}

}  // namespace crosstown
