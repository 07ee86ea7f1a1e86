#include "expected_answers.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace hedgerow::test {

void save(const std::vector<ExpectedAnswer>& answers, const std::filesystem::path& file) {
  std::ofstream out(file);
  for (const auto& answer : answers) {
    auto hits = nlohmann::json::array();
    for (std::size_t i = 0; i < answer.ids.size(); ++i) {
      const auto& hit = answer.expected.top[i];
      hits.push_back({hit.document, answer.ids[i], hit.score});
    }
    const nlohmann::json line{
        {"query", answer.query}, {"like", answer.like}, {"matches", answer.expected.matches}, {"hits", hits}};
    out << line.dump() << "\n";
  }
  out.flush();
  if (!out) throw std::runtime_error(file.string() + ": cannot be written");
}

std::vector<ExpectedAnswer> load_expected_answers(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file.string() + ": cannot be read; a run without --root writes it");
  std::vector<ExpectedAnswer> answers;
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line);
    ExpectedAnswer answer;
    answer.query = json["query"].get<std::string>();
    answer.like = json["like"].get<std::string>();
    answer.expected.matches = json["matches"].get<std::uint64_t>();
    for (const auto& hit : json["hits"]) {
      answer.expected.top.push_back({hit[0].get<Xapian::docid>(), hit[2].get<double>()});
      answer.ids.push_back(hit[1].get<std::string>());
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace hedgerow::test
