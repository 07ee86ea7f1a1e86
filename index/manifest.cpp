#include "index/manifest.hpp"

#include <xapian.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "corpus/document.hpp"

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

  void real(const char* name, double& out) {
    const json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_number()) return complain(name, "is not a number");
    out = value->get<double>();
  }

  void kind(const char* name, fields::ValueKind& out) {
    std::string word;
    text(name, word);
    if (!complaint_.empty()) return;
    const auto known = fields::kind_of(word);
    if (!known) return complain(name, "is none of category, number, date");
    out = *known;
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

  void complain(const char* name, const std::string& what) {
    complaint_ = where_ + ": field '" + name + "' " + what;
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

  const json& object_;
  std::string where_;
  std::string& complaint_;
};

// The readers of the manifest's parts do nothing once something else is wrong.

// A member of the manifest's object; null where it is not there.
const json& member(const json& root, const char* name) {
  static const json nothing;
  const auto found = root.find(name);
  return found == root.end() ? nothing : *found;
}

void read_file(const json& root, const char* name, std::string& file, std::string& sha256, std::string& complaint) {
  FieldReader fields(member(root, name), std::string("manifest.json: ") + name, complaint);
  fields.file("file", file);
  fields.sha256("sha256", sha256);
}

void read_bm25(const json& root, Manifest& manifest, std::string& complaint) {
  FieldReader fields(member(root, "bm25"), "manifest.json: bm25", complaint);
  fields.real("k1", manifest.bm25.k1);
  fields.real("k3", manifest.bm25.k3);
  fields.real("b", manifest.bm25.b);
  fields.real("min_normalised_length", manifest.bm25.min_normalised_length);
  if (!complaint.empty()) return;
  if (const char* wrong = what_is_wrong_with(manifest.bm25)) {
    complaint = std::string("manifest.json: bm25 is out of bounds: ") + wrong;
  }
}

void read_facets(const json& root, Manifest& manifest, std::string& complaint) {
  if (!complaint.empty()) return;
  const json& facets = member(root, "facets");
  if (!facets.is_array() || facets.size() > Manifest::most_facets) {
    complaint = "manifest.json: field 'facets' is not a list of at most " + std::to_string(Manifest::most_facets) +
                " facets";
    return;
  }
  for (const auto& element : facets) {
    FacetField facet;
    FieldReader fields(element, "manifest.json: facet " + std::to_string(manifest.facets.size()), complaint);
    fields.text("name", facet.name);
    fields.kind("kind", facet.kind);
    fields.number("documents", facet.documents);
    if (!complaint.empty()) return;
    if (facet.name.empty() || facet.name.size() > Document::longest_facet_name_bytes) {
      return fields.complain("name", "is not the name of a facet");
    }
    if (!manifest.facets.empty() && manifest.facets.back().name >= facet.name) {
      return fields.complain("name", "is not behind the facet before it");
    }
    if (facet.documents < 1 || facet.documents > manifest.documents) {
      return fields.complain("documents", "is not from 1 to the documents of the collection");
    }
    manifest.facets.push_back(std::move(facet));
  }
}

}  // namespace

std::string manifest_to_json(const Manifest& manifest) {
  nlohmann::ordered_json partitions = nlohmann::ordered_json::array();
  for (const auto& partition : manifest.partitions) {
    partitions.push_back({{"file", partition.file},
                          {"documents", partition.documents},
                          {"total_length", partition.total_length},
                          {"sha256", partition.sha256}});
  }
  nlohmann::ordered_json facets = nlohmann::ordered_json::array();
  for (const auto& facet : manifest.facets) {
    facets.push_back({{"name", facet.name}, {"kind", fields::name_of(facet.kind)}, {"documents", facet.documents}});
  }
  const nlohmann::ordered_json root{
      {"format_version", Manifest::format_version},
      {"collection", manifest.collection},
      {"generation", manifest.generation.value},
      {"stemmer", manifest.stemmer},
      {"title_weight", manifest.title_weight},
      {"bm25",
       {{"k1", manifest.bm25.k1},
        {"k3", manifest.bm25.k3},
        {"b", manifest.bm25.b},
        {"min_normalised_length", manifest.bm25.min_normalised_length}}},
      {"documents", manifest.documents},
      {"total_length", manifest.total_length},
      {"facets", std::move(facets)},
      {"statistics", {{"file", manifest.statistics_file}, {"sha256", manifest.statistics_sha256}}},
      {"spelling", {{"file", manifest.spelling_file}, {"sha256", manifest.spelling_sha256}}},
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
  fields.number("title_weight", manifest.title_weight);
  if (complaint.empty() && (manifest.title_weight < 1 || manifest.title_weight > Manifest::most_title_weight)) {
    fields.complain("title_weight", "is not from 1 to " + std::to_string(Manifest::most_title_weight));
  }
  read_bm25(root, manifest, complaint);
  read_facets(root, manifest, complaint);
  read_file(root, "statistics", manifest.statistics_file, manifest.statistics_sha256, complaint);
  read_file(root, "spelling", manifest.spelling_file, manifest.spelling_sha256, complaint);
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
