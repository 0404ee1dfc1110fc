// The bot's own options: those of bot.toml with the tournament's over them.
#pragma once

#include <google/protobuf/struct.pb.h>

#include <string>

namespace crosstown {

/// A JSON object as protobuf's Struct, such as MatchStart.options. Ends the process if it is none.
google::protobuf::Struct ParseJsonObject(const std::string& json);

/// The text option `name` from CROSSTOWN_OPTIONS, or `fallback` if it is not there.
std::string TextOption(const std::string& name, const std::string& fallback);

}  // namespace crosstown
