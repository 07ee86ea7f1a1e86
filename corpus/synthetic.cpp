#include "corpus/synthetic.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include "base/random.hpp"

namespace hedgerow {

namespace {

constexpr double common_words = 10'000;
constexpr std::uint64_t rarest_rank = 1'000'000'000'000;
constexpr std::uint64_t most_documents = 4'000'000'000;
constexpr double share_of_title_words = 0.04;

// A rank whose density is 1/x up to common_words and common_words/x^2 beyond, by inversion of its integral.
std::uint64_t draw_rank(Random& random) {
  static const double common_mass = std::log(common_words);
  const double mass = random.uniform() * (common_mass + 1);  // the tail's mass is 1
  const double rank =
      mass < common_mass ? std::exp(mass) : common_words / std::max(1 - (mass - common_mass), 1e-12);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rank), 1, rarest_rank);
}

void capitalise(std::string& text, std::size_t at) {
  text[at] = static_cast<char>(text[at] - 'a' + 'A');
}

}  // namespace

std::string synthetic_word(std::uint64_t rank) {
  static constexpr std::string_view consonants = "tnrlsdmkpbgfvhwzjcxy";
  static constexpr std::string_view vowels = "aeiou";
  assert(rank >= 1 && rank <= rarest_rank);
  // Among the words of as many syllables, neighbours in rank are scattered: multiplying by a number that shares no
  // factor with 100 permutes them (and for ranks up to 10^12 stays within 64 bits).
  std::uint64_t index = rank - 1;
  std::uint64_t words = 100;
  int syllables = 1;
  while (index >= words) {
    index -= words;
    words *= 100;
    ++syllables;
  }
  index = (index * 6'700'417 + 17) % words;
  std::string word;
  for (int i = 0; i < syllables; ++i) {
    const std::uint64_t syllable = index % 100;
    word += consonants[syllable / 5];
    word += vowels[syllable % 5];
    index /= 100;
  }
  return word;
}

Document synthetic_document(std::uint64_t seed, std::uint64_t number) {
  Random random(seed * 0xd1342543de82ef95ULL + number);
  Document document;
  document.id = "synthetic-" + std::to_string(number);

  std::vector<std::uint64_t> title;
  for (std::uint64_t words = 2 + random.below(6); words > 0; --words) title.push_back(draw_rank(random));
  for (const std::uint64_t rank : title) {
    if (!document.title.empty()) document.title += ' ';
    document.title += synthetic_word(rank);
  }
  capitalise(document.title, 0);

  const double length = std::clamp(std::exp(std::log(100.0) + 0.67 * random.normal()), 10.0, 5000.0);
  auto words_left = static_cast<std::uint64_t>(length);
  while (words_left > 0) {
    const std::uint64_t sentence = std::min(words_left, 6 + random.below(18));
    words_left -= sentence;
    if (!document.text.empty()) document.text += ' ';
    const std::size_t begin = document.text.size();
    for (std::uint64_t i = 0; i < sentence; ++i) {
      if (i > 0) document.text += ' ';
      const std::uint64_t rank =
          random.chance(share_of_title_words) ? title[random.below(title.size())] : draw_rank(random);
      document.text += synthetic_word(rank);
    }
    capitalise(document.text, begin);
    document.text += '.';
  }

  // 50 topics, the first the commonest: the integral of 1/x again.
  const auto topic = static_cast<std::uint64_t>(std::exp(random.uniform() * std::log(51.0)));
  document.facets["topic"] = {synthetic_word(std::clamp<std::uint64_t>(topic, 1, 50))};
  document.facets["year"] = {std::to_string(2000 + random.below(26))};
  return document;
}

namespace {

class SyntheticReader final : public Reader {
 public:
  SyntheticReader(std::uint64_t seed, std::uint64_t count) : seed_(seed), count_(count) {}

  ReadOutcome next() override {
    if (given_ == count_) return EndOfCorpus{};
    return synthetic_document(seed_, ++given_);
  }
  ReadProgress progress() const override {
    return {given_, 0, 0, static_cast<double>(given_) / static_cast<double>(count_)};
  }
  RecordPosition position() const override { return {"synthetic", given_}; }

 private:
  std::uint64_t seed_;
  std::uint64_t count_;
  std::uint64_t given_ = 0;
};

}  // namespace

result<std::unique_ptr<Reader>> open_synthetic(const std::string& count, const CorpusSettings& settings) {
  std::uint64_t documents = 0;
  const char* const end = count.data() + count.size();
  const auto [stop, failure] = std::from_chars(count.data(), end, documents);
  if (failure != std::errc{} || stop != end || documents == 0 || documents > most_documents) {
    return Error{Errc::invalid_argument, "'synthetic:" + count + "': a number of documents from 1 to " +
                                             std::to_string(most_documents) + " is expected"};
  }
  return std::unique_ptr<Reader>(std::make_unique<SyntheticReader>(settings.seed, documents));
}

}  // namespace hedgerow
