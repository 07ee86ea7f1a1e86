#include "tests/peers/in_process.hpp"

#include "index/local_search.hpp"

namespace hedgerow::peers {

namespace {

class InProcessClient final : public Client {
 public:
  explicit InProcessClient(LocalSearch search) : search_(std::move(search)) {}

  result<Answer> ask(const std::string& query, Want want) override {
    const auto found = search_.search(query, wanted_hits);
    if (!found) return found.error();
    const auto shown = search_.fetch_shown(found->hits);
    if (!shown) return shown.error();
    Answer answer;
    answer.hits = static_cast<std::uint32_t>(shown->size());
    if (want == Want::ids) {
      for (const auto& document : *shown) answer.ids.push_back(document.id);
    }
    return answer;
  }

 private:
  LocalSearch search_;
};

class InProcess final : public Engine {
 public:
  explicit InProcess(std::filesystem::path index) : index_(std::move(index)) {}
  std::unique_ptr<Client> client() override { return std::make_unique<InProcessClient>(LocalSearch::open(index_).value()); }

 private:
  std::filesystem::path index_;
};

}  // namespace

result<std::unique_ptr<Engine>> make_in_process(const std::filesystem::path& index) {
  if (const auto search = LocalSearch::open(index); !search) return search.error();
  return std::make_unique<InProcess>(index);
}

}  // namespace hedgerow::peers
