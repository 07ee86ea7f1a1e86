#include "tests/peers/hedgerow.hpp"

#include "lab/answer_scan.hpp"
#include "lab/search_target.hpp"
#include "tests/peers/http_connection.hpp"

namespace hedgerow::peers {

namespace {

class HedgerowClient final : public Client {
 public:
  HedgerowClient(HttpConnection connection, lab::SearchParameters parameters)
      : connection_(std::move(connection)), parameters_(std::move(parameters)) {}

  result<Answer> ask(const std::string& query, Want want) override {
    const auto response = connection_.get(lab::search_target(query, parameters_));
    if (!response) return response.error();
    if (response->status != 200) return Error{Errc::refused, "hedgerow: status " + std::to_string(response->status)};
    Answer answer;
    answer.hits = count_hits(response->body);
    answer.complete = header_value(response->headers, "Hedgerow-Completeness") == "1.0000";
    if (want == Want::ids) answer.ids = lab::hit_ids(lab::scan_answer(response->body).hits);
    return answer;
  }

 private:
  HttpConnection connection_;
  lab::SearchParameters parameters_;
};

class HedgerowRoot final : public Engine {
 public:
  HedgerowRoot(std::string address, lab::SearchParameters parameters)
      : address_(std::move(address)), parameters_(std::move(parameters)) {}
  std::unique_ptr<Client> client() override {
    return std::make_unique<HedgerowClient>(HttpConnection::to(address_).value(), parameters_);
  }

 private:
  std::string address_;
  lab::SearchParameters parameters_;
};

}  // namespace

result<std::unique_ptr<Engine>> make_hedgerow(const std::string& address,
                                              const std::vector<std::pair<std::string, std::string>>& parameters) {
  if (const auto connection = HttpConnection::to(address); !connection) return connection.error();
  lab::SearchParameters all{{"k", std::to_string(wanted_hits)}, {"cache", "off"}, {"spelling", "off"}, {"snippets", "off"}};
  all.insert(all.end(), parameters.begin(), parameters.end());
  return std::make_unique<HedgerowRoot>(address, std::move(all));
}

std::uint32_t count_hits(std::string_view json) {
  constexpr std::string_view mark = "{\"rank\":";
  std::uint32_t count = 0;
  for (auto at = json.find(mark); at != std::string_view::npos; at = json.find(mark, at + mark.size())) ++count;
  return count;
}

}  // namespace hedgerow::peers
