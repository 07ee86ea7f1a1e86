#include "index/verify.hpp"

#include <xapian.h>

#include <optional>

#include "base/sha256.hpp"
#include "index/database_label.hpp"
#include "index/engine_error.hpp"
#include "index/fields.hpp"
#include "index/guard.hpp"
#include "index/manifest.hpp"
#include "index/partition_of.hpp"
#include "index/spelling.hpp"
#include "index/spelling_writer.hpp"
#include "index/statistics_writer.hpp"
#include "index/stored_document.hpp"

namespace hedgerow {

namespace {

class Verifier {
 public:
  Verifier(const std::filesystem::path& directory, const Manifest& manifest, VerifyReport& report)
      : directory_(directory),
        manifest_(manifest),
        report_(report),
        facet_documents_(manifest.facets.size()) {}

  void statistics() {
    const auto& file = manifest_.statistics_file;
    if (!checksum_holds(file, manifest_.statistics_sha256)) return;
    statistics_ = open(file, {.kind = "statistics",
                              .generation = manifest_.generation,
                              .number = static_cast<std::uint32_t>(manifest_.partitions.size()),
                              .documents = manifest_.documents});
    if (!statistics_) return;
    if (statistics_->get_doccount() != manifest_.partitions.size()) {
      complain(file, "describes " + std::to_string(statistics_->get_doccount()) + " partitions, expected are " +
                         std::to_string(manifest_.partitions.size()));
    }
    const auto end = statistics_->allterms_end();
    for (auto term = statistics_->allterms_begin(); term != end; ++term) ++report_.terms;
  }

  // Its words are words of the statistics, with their document frequencies; both lists are sorted.
  void spelling() {
    const auto& file = manifest_.spelling_file;
    if (!checksum_holds(file, manifest_.spelling_sha256)) return;
    const auto database = open(file, {.kind = "spelling",
                                      .generation = manifest_.generation,
                                      .number = static_cast<std::uint32_t>(manifest_.partitions.size()),
                                      .documents = manifest_.documents});
    if (!database || !statistics_) return;
    const Xapian::doccount smallest = smallest_spelling_frequency(*statistics_);
    auto word = database->spellings_begin();
    const auto end = database->spellings_end();
    const auto terms_end = statistics_->allterms_end();
    for (auto term = statistics_->allterms_begin(); term != terms_end; ++term) {
      if (!is_spelling_word(*term)) continue;
      const Xapian::termcount frequency = statistics_->get_collection_freq(*term);
      if (frequency < smallest) continue;
      if (word == end || *word != *term || word.get_termfreq() != frequency) {
        return complain(file, "the statistics do not agree with it, first at the word '" + *term + "'");
      }
      ++word;
    }
    if (word != end) complain(file, "holds a word that the statistics do not: '" + *word + "'");
  }

  void partition(PartitionId partition) {
    const PartitionInfo& info = manifest_.partitions[partition.value];
    if (!checksum_holds(info.file, info.sha256)) return;
    const auto database = open(info.file, {.kind = "partition",
                                           .generation = manifest_.generation,
                                           .number = partition.value,
                                           .documents = manifest_.documents});
    if (!database) return;
    count_holds(info.file, "documents, guards included", database->get_doccount(), info.documents + guard::count);
    count_holds(info.file, "terms in all", database->get_total_length(), info.total_length);
    guards_hold(info, *database);
    documents_hold(partition, *database);
    frequencies_hold(partition, *database);
    for (std::size_t f = 0; f < manifest_.facets.size(); ++f) {
      facet_documents_[f] += database->get_value_freq(fields::values_slot(manifest_.facets[f].name));
    }
  }

  // Once all partitions are done: what is counted over all of them. Of a damaged partition the counts say nothing.
  void totals() {
    if (!report_.problems.empty()) return;
    if (report_.documents != manifest_.documents) {
      complain("manifest.json", "names " + std::to_string(manifest_.documents) + " documents, the partitions hold " +
                                    std::to_string(report_.documents));
    }
    for (std::size_t f = 0; f < manifest_.facets.size(); ++f) {
      const FacetField& facet = manifest_.facets[f];
      if (facet_documents_[f] == facet.documents) continue;
      complain("manifest.json", "names " + std::to_string(facet.documents) + " documents with the facet '" +
                                    facet.name + "', the partitions hold " + std::to_string(facet_documents_[f]));
    }
  }

 private:
  void complain(const std::string& file, const std::string& what) { report_.problems.push_back(file + ": " + what); }

  void count_holds(const std::string& file, const char* what, std::uint64_t found, std::uint64_t expected) {
    if (found == expected) return;
    complain(file, "holds " + std::to_string(found) + " " + what + "; expected are " + std::to_string(expected));
  }

  bool checksum_holds(const std::string& file, const std::string& expected) {
    std::error_code error;
    if (!std::filesystem::exists(directory_ / file, error)) {
      complain(file, "is missing");
      return false;
    }
    const auto found = sha256_of_file(directory_ / file);
    if (!found) {
      complain(file, to_string(found.error()));
    } else if (*found != expected) {
      complain(file, "its SHA-256 is not the manifest's: the file was damaged or replaced");
    }
    return found && *found == expected;
  }

  std::optional<Xapian::Database> open(const std::string& file, const DatabaseLabel& label) {
    auto database = open_labelled(directory_ / file, label);
    if (database) return std::move(*database);
    complain(file, to_string(database.error()));
    return std::nullopt;
  }

  void guards_hold(const PartitionInfo& info, const Xapian::Database& database) {
    std::uint64_t terms = 0;
    const auto end = database.allterms_end();
    for (auto term = database.allterms_begin(); term != end; ++term) ++terms;
    for (const Xapian::docid guard : {guard::front, guard::back(manifest_.documents)}) {
      try {
        const auto held = static_cast<std::uint64_t>(database.get_document(guard).termlist_count());
        count_holds(info.file, "terms in a guard document", held, terms);
        count_holds(info.file, "as the length of a guard document", database.get_doclength(guard), 0);
      } catch (const Xapian::DocNotFoundError&) {
        complain(info.file, "has no guard document at " + std::to_string(guard));
      }
    }
  }

  void documents_hold(PartitionId partition, const Xapian::Database& database) {
    const auto& file = manifest_.partitions[partition.value].file;
    const auto end = database.postlist_end("");
    for (auto document = database.postlist_begin(""); document != end; ++document) {
      const Xapian::docid docid = *document;
      if (docid == guard::front || docid == guard::back(manifest_.documents)) continue;
      if (!guard::is_document(docid, manifest_.documents)) {
        complain(file, "holds a document beyond the collection, " + std::to_string(docid));
        continue;
      }
      const std::string name = "document " + std::to_string(guard::number_of(docid).value);
      const Xapian::Document document_here = database.get_document(docid);
      const auto stored = decode_stored_document(document_here.get_value(fields::shown_slot), document_here.get_data());
      if (!stored) {
        complain(file, name + " cannot be read");
      } else if (!is_found_by_id(database, docid, stored->id)) {
        complain(file, name + " is not found by its id");
      } else if (partition_of(stored->id, static_cast<std::uint32_t>(manifest_.partitions.size())) != partition) {
        complain(file, name + " belongs to another partition");
      } else {
        ++report_.documents;
      }
    }
  }

  static bool is_found_by_id(const Xapian::Database& database, Xapian::docid document, const std::string& id) {
    const std::string term = fields::id_term(id);
    auto posting = database.postlist_begin(term);
    if (posting == database.postlist_end(term)) return false;
    posting.skip_to(document);
    return posting != database.postlist_end(term) && *posting == document;
  }

  // The statistics and the partition hold the same terms with the same document frequencies; both lists are sorted.
  void frequencies_hold(PartitionId partition, const Xapian::Database& database) {
    if (!statistics_) return;
    const std::string& file = manifest_.partitions[partition.value].file;
    auto described = statistics_->termlist_begin(partition.value + 1);
    const auto described_end = statistics_->termlist_end(partition.value + 1);
    const auto end = database.allterms_end();
    for (auto term = database.allterms_begin(); term != end; ++term) {
      if (!is_described(*term)) continue;
      if (described == described_end || *described != *term ||
          described.get_wdf() + guard::count != term.get_termfreq()) {
        return complain(file, "the statistics do not agree with it, first at the term '" + *term + "'");
      }
      ++described;
    }
    if (described != described_end) complain(file, "the statistics hold terms that it does not: '" + *described + "'");
  }

  const std::filesystem::path& directory_;
  const Manifest& manifest_;
  VerifyReport& report_;
  std::optional<Xapian::Database> statistics_;
  std::vector<std::uint64_t> facet_documents_;  // in the manifest's order
};

}  // namespace

result<VerifyReport> verify_index(const std::filesystem::path& directory,
                                  const std::function<void(const std::string&)>& checking) {
  const auto manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  VerifyReport report;
  report.generation = manifest->generation.value;
  report.partitions = static_cast<std::uint32_t>(manifest->partitions.size());

  Verifier verifier(directory, *manifest, report);
  const auto check_file = [&](const std::string& file, auto&& check) {
    checking(file);
    const auto checked = translating_exceptions(file, [&]() -> result<void> {
      check();
      return {};
    });
    if (!checked) report.problems.push_back(to_string(checked.error()));
  };
  check_file(manifest->statistics_file, [&] { verifier.statistics(); });
  check_file(manifest->spelling_file, [&] { verifier.spelling(); });
  for (std::uint32_t p = 0; p < manifest->partitions.size(); ++p) {
    check_file(manifest->partitions[p].file, [&] { verifier.partition(PartitionId{p}); });
  }
  verifier.totals();
  return report;
}

}  // namespace hedgerow
