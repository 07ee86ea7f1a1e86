#include "enriched_reader.hpp"

#include <array>
#include <cstdio>
#include <string>

#include "base/random.hpp"

namespace hedgerow::test {

namespace {

constexpr std::array<const char*, 4> stages{"new", "In Review", "long finished", "given up"};
constexpr std::array<const char*, 5> foreign{"\u4e2d\u6587\u641c\u5c0b", "\u5168\u6587\u691c\u7d22", "\u4e2d\u6587",
                                             "\u691c\u7d22\u30a8\u30f3\u30b8\u30f3", "\ud55c\uad6d\uc5b4"};

}  // namespace

ReadOutcome EnrichedReader::next() {
  ReadOutcome outcome = reader_->next();
  auto* document = std::get_if<Document>(&outcome);
  if (document == nullptr) return outcome;
  Random random(stable_hash(document->id));
  if (random.chance(0.95)) document->facets["size"] = {std::to_string(document->text.size())};
  if (random.chance(0.9)) {
    char day[16];
    std::snprintf(day, sizeof day, "20%02d-%02d-%02d", static_cast<int>(10 + random.below(15)),
                  static_cast<int>(1 + random.below(12)), static_cast<int>(1 + random.below(28)));
    document->facets["day"] = {day};
  }
  if (random.chance(0.5)) {
    const std::uint64_t first = random.below(stages.size());
    document->facets["stage"] = {stages[first]};
    if (random.chance(0.2)) document->facets["stage"].emplace_back(stages[(first + 1) % stages.size()]);
  }
  if (random.chance(0.02)) document->text += std::string(" ") + foreign[random.below(foreign.size())];
  return outcome;
}

}  // namespace hedgerow::test
