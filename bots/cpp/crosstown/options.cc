#include "crosstown/options.h"

#include <google/protobuf/util/json_util.h>

#include <cstdlib>

#include "crosstown/bot.h"

namespace crosstown {

google::protobuf::Struct ParseJsonObject(const std::string& json) {
  google::protobuf::Struct object;
  if (const auto status = google::protobuf::util::JsonStringToMessage(json, &object);
      !status.ok()) {
    Fail("not a JSON object (" + status.ToString() + "): " + json);
  }
  return object;
}

std::string TextOption(const std::string& name, const std::string& fallback) {
  const char* json = std::getenv("CROSSTOWN_OPTIONS");
  if (json == nullptr || *json == '\0') {
    return fallback;
  }
  const google::protobuf::Struct options = ParseJsonObject(json);
  const auto found = options.fields().find(name);
  return found == options.fields().end() ? fallback : found->second.string_value();
}

}  // namespace crosstown
