#include "index/manifest.hpp"

#include <xapian.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

namespace hedgerow {

namespace {

using nlohmann::json;

// Files are named relative to the index directory and stay inside it.
bool is_plain_relative_path(const std::string& file) {
  const std::filesystem::path path(file);
  if (file.empty() || path.is_absolute()) return false;
  for (const auto& part : path) {
    if (part == "..") return false;
  }
  return true;
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Reads fields by name; the first that is missing or of the wrong type is remembered, and everything after reads as
// empty.
class FieldReader {
 public:
  // object outlives the reader.
  FieldReader(const json& object, std::string where, std::string& complaint)
      : object_(object), where_(std::move(where)), complaint_(complaint) {}

  template <class Number>
  void number(const char* name, Number& out) {
    const json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > std::numeric_limits<Number>::max()) {
      return complain(name, "is not a whole number in range");
    }
    out = value->get<Number>();
  }

  void text(const char* name, std::string& out) {
    const json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return complain(name, "is not a string");
    out = value->get<std::string>();
  }

  void file(const char* name, std::string& out) {
    text(name, out);
    if (complaint_.empty() && !is_plain_relative_path(out)) complain(name, "is not a file of the index");
  }

  void sha256(const char* name, std::string& out) {
    text(name, out);
    if (complaint_.empty() && !is_sha256(out)) complain(name, "is not a SHA-256");
  }

 private:
  const json* find(const char* name) {
    if (!complaint_.empty()) return nullptr;
    if (!object_.is_object()) {
      complaint_ = where_ + " is not an object";
      return nullptr;
    }
    const auto found = object_.find(name);
    if (found == object_.end()) {
      complain(name, "is missing");
      return nullptr;
    }
    return &*found;
  }

  void complain(const char* name, const char* what) {
    complaint_ = where_ + ": field '" + name + "' " + what;
  }

  const json& object_;
  std::string where_;
  std::string& complaint_;
};

}  // namespace

std::string manifest_to_json(const Manifest& manifest) {
  nlohmann::ordered_json partitions = nlohmann::ordered_json::array();
  for (const auto& partition : manifest.partitions) {
    partitions.push_back({{"file", partition.file},
                          {"documents", partition.documents},
                          {"total_length", partition.total_length},
                          {"sha256", partition.sha256}});
  }
  const nlohmann::ordered_json root{
      {"format_version", Manifest::format_version},
      {"collection", manifest.collection},
      {"generation", manifest.generation.value},
      {"stemmer", manifest.stemmer},
      {"documents", manifest.documents},
      {"total_length", manifest.total_length},
      {"statistics", {{"file", manifest.statistics_file}, {"sha256", manifest.statistics_sha256}}},
      {"partitions", std::move(partitions)}};
  return root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

result<Manifest> manifest_from_json(const std::string& text) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) return Error{Errc::corrupt, "manifest.json: not JSON"};

  std::string complaint;
  FieldReader fields(root, "manifest.json", complaint);
  int version = 0;
  fields.number("format_version", version);
  if (complaint.empty() && version != Manifest::format_version) {
    return Error{Errc::unsupported, "manifest.json: format version " + std::to_string(version) +
                                        ", this program reads version " + std::to_string(Manifest::format_version) +
                                        "; build the index anew"};
  }

  Manifest manifest;
  fields.text("collection", manifest.collection);
  fields.number("generation", manifest.generation.value);
  fields.text("stemmer", manifest.stemmer);
  fields.number("documents", manifest.documents);
  fields.number("total_length", manifest.total_length);
  if (complaint.empty()) {
    const json statistics_object = root.value("statistics", json());
    FieldReader statistics(statistics_object, "manifest.json: statistics", complaint);
    statistics.file("file", manifest.statistics_file);
    statistics.sha256("sha256", manifest.statistics_sha256);
  }
  if (!complaint.empty()) return Error{Errc::corrupt, complaint};
  try {
    Xapian::Stem{manifest.stemmer};
  } catch (const Xapian::Error&) {
    return Error{Errc::corrupt, "manifest.json: field 'stemmer' names no stemmer: '" + manifest.stemmer + "'"};
  }

  const auto partitions = root.find("partitions");
  if (partitions == root.end() || !partitions->is_array() || partitions->empty()) {
    return Error{Errc::corrupt, "manifest.json: field 'partitions' is not a list of partitions"};
  }
  std::uint64_t documents = 0;
  std::uint64_t total_length = 0;
  for (const auto& element : *partitions) {
    PartitionInfo& info = manifest.partitions.emplace_back();
    FieldReader partition(element, "manifest.json: partition " + std::to_string(manifest.partitions.size() - 1),
                          complaint);
    partition.file("file", info.file);
    partition.number("documents", info.documents);
    partition.number("total_length", info.total_length);
    partition.sha256("sha256", info.sha256);
    if (!complaint.empty()) return Error{Errc::corrupt, complaint};
    documents += info.documents;
    total_length += info.total_length;
  }
  if (documents != manifest.documents || total_length != manifest.total_length) {
    return Error{Errc::corrupt, "manifest.json: the partitions do not add up to the totals"};
  }
  return manifest;
}

result<Manifest> read_manifest(const std::filesystem::path& directory) {
  const auto path = directory / "manifest.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return Error{Errc::not_found, "no index in " + directory.string() + " (it has no manifest.json)"};
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad() || !file.is_open()) return Error{Errc::io, path.string() + ": cannot be read"};
  return manifest_from_json(text);
}

}  // namespace hedgerow
