#include "tests/peers/xapian_databases.hpp"

#include <xapian.h>

#include <functional>
#include <optional>

#include "index/engine_error.hpp"
#include "index/scoring.hpp"
#include "index/stored_document.hpp"

namespace hedgerow::peers {

namespace {

using OpenDatabases = std::function<Xapian::Database()>;

Xapian::BM25Weight as_hedgerow_scores() {
  const Bm25Parameters parameters;
  return {parameters.k1, 0, parameters.k3, parameters.b, parameters.min_normalised_length};
}

class XapianClient final : public Client {
 public:
  explicit XapianClient(OpenDatabases open) : open_(std::move(open)) {
    parser_.set_stemmer(Xapian::Stem("english"));
    parser_.set_stemming_strategy(Xapian::QueryParser::STEM_SOME);
  }

  result<Answer> ask(const std::string& query, Want want) override {
    auto answer = translating_exceptions("xapian", [&]() -> result<Answer> { return found_by(query, want); });
    if (answer.has_error()) all_.reset();
    return answer;
  }

 private:
  result<Answer> found_by(const std::string& query, Want want) {
    if (!all_) all_ = open_();
    Xapian::Enquire enquire(*all_);
    enquire.set_weighting_scheme(scoring_);
    enquire.set_query(parser_.parse_query(query));
    const Xapian::MSet matches = enquire.get_mset(0, wanted_hits);
    matches.fetch();
    Answer answer;
    for (auto match = matches.begin(); match != matches.end(); ++match) {
      const auto shown = decode_shown_document(match.get_document().get_data());
      if (!shown) return shown.error();
      ++answer.hits;
      if (want == Want::ids) answer.ids.push_back(shown->id);
    }
    return answer;
  }

  OpenDatabases open_;
  std::optional<Xapian::Database> all_;
  Xapian::QueryParser parser_;
  Xapian::BM25Weight scoring_ = as_hedgerow_scores();
};

class XapianDatabases final : public Engine {
 public:
  explicit XapianDatabases(OpenDatabases open) : open_(std::move(open)) {}
  std::unique_ptr<Client> client() override { return std::make_unique<XapianClient>(open_); }

 private:
  OpenDatabases open_;
};

}  // namespace

std::unique_ptr<Engine> make_xapian_local(std::vector<std::filesystem::path> databases) {
  return std::make_unique<XapianDatabases>([databases = std::move(databases)] {
    Xapian::Database all;
    for (const auto& path : databases) all.add_database(Xapian::Database(path.string()));
    return all;
  });
}

std::unique_ptr<Engine> make_xapian_remote(std::vector<std::uint16_t> ports) {
  return std::make_unique<XapianDatabases>([ports = std::move(ports)] {
    Xapian::Database all;
    for (const unsigned port : ports) all.add_database(Xapian::Remote::open("127.0.0.1", port, longest_wait_ms, longest_wait_ms));
    return all;
  });
}

}  // namespace hedgerow::peers
