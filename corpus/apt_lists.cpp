#include "corpus/apt_lists.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace hedgerow {

namespace {

constexpr std::array<std::string_view, 7> compressions{".gz", ".xz", ".lz4", ".zst", ".bz2", ".lzma", ".lz"};

// "a_Packages.lz4" is the list "a_Packages".
std::string_view without_compression(std::string_view name) {
  for (const std::string_view ending : compressions) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

bool is_list(std::string_view name, std::string_view kind) {
  if (!name.ends_with(kind)) return false;
  return name.size() == kind.size() || name[name.size() - kind.size() - 1] == '_';
}

}  // namespace

result<AptLists> find_apt_lists(const std::vector<std::string>& folders) {
  AptLists lists;
  std::string looked_in;
  for (const std::string& folder : folders) {
    looked_in += (looked_in.empty() ? "" : ", ") + folder;
    std::error_code failure;
    std::filesystem::directory_iterator entries(folder, failure);
    if (failure == std::errc::no_such_file_or_directory || failure == std::errc::not_a_directory) continue;
    if (failure) return Error{Errc::io, folder + ": " + failure.message()};

    // By the name without its compression, so that each list comes once; the shortest name, the plain one, first.
    std::map<std::string, std::filesystem::path> packages;
    std::map<std::string, std::filesystem::path> translations;
    for (; entries != std::filesystem::directory_iterator(); entries.increment(failure)) {
      if (failure) return Error{Errc::io, folder + ": " + failure.message()};
      const std::string name = entries->path().filename().string();
      const std::string list(without_compression(name));
      auto* kind = is_list(list, "Packages") ? &packages : is_list(list, "Translation-en") ? &translations : nullptr;
      if (kind == nullptr || entries->is_directory(failure)) continue;
      auto& path = (*kind)[list];
      if (path.empty() || name.size() < path.filename().string().size()) path = entries->path();
    }
    for (const auto& [list, path] : translations) lists.translations.push_back(path);
    if (!lists.packages.empty()) continue;
    for (const auto& [list, path] : packages) lists.packages.push_back(path);
  }
  if (lists.packages.empty()) {
    return Error{Errc::not_found, "no package lists of apt in " + looked_in + "; scripts/fetch-apt-lists fetches them"};
  }
  return lists;
}

}  // namespace hedgerow
