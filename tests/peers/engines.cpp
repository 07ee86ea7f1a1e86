#include "tests/peers/engines.hpp"

#include "tests/peers/hedgerow.hpp"
#include "tests/peers/in_process.hpp"
#include "tests/peers/sphinx.hpp"
#include "tests/peers/xapian_databases.hpp"

namespace hedgerow::peers {

std::vector<std::string> engine_kinds() { return {"in-process", "xapian", "xapian-remote", "sphinx", "hedgerow"}; }

result<std::unique_ptr<Engine>> make_engine(const EngineSettings& settings) {
  const auto lacks = [&](const char* what) { return Error{Errc::invalid_argument, settings.kind + " needs " + what}; };
  if (settings.kind == "in-process") {
    if (settings.index.empty()) return lacks("an index");
    return make_in_process(settings.index);
  }
  if (settings.kind == "xapian") {
    if (settings.databases.empty()) return lacks("databases");
    return make_xapian_local(settings.databases);
  }
  if (settings.kind == "xapian-remote") {
    if (settings.ports.empty()) return lacks("ports");
    return make_xapian_remote(settings.ports);
  }
  if (settings.kind == "sphinx") {
    if (settings.ports.size() != 1) return lacks("one port");
    return make_sphinx(settings.ports.front(), settings.sphinx);
  }
  if (settings.kind == "hedgerow") {
    if (settings.target.empty()) return lacks("a target");
    return make_hedgerow(settings.target, settings.parameters);
  }
  return Error{Errc::invalid_argument, "'" + settings.kind + "' is no engine that is known here"};
}

}  // namespace hedgerow::peers
