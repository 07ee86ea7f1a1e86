#include "root/policy/replay.hpp"

#include <algorithm>
#include <charconv>

#include "root/policy/recorded_settings.hpp"
#include "root/policy/search_recorder.hpp"

namespace hedgerow::policy {

namespace {

constexpr std::string_view outcome_mark = " >";

// A recording that names more leaves is none: what is known of leaves is kept by their numbers.
constexpr std::uint32_t most_leaves = 1'000'000;

// The words of an event, read one after another; what is missing or no number makes it broken.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  bool broken() const { return broken_; }
  bool at_end() const { return rest_.empty(); }

  std::string_view word() {
    const auto end = std::min(rest_.find(' '), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    broken_ = broken_ || found.empty();
    return found;
  }
  template <class Number>
  Number number_in(std::string_view text) {
    Number number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    broken_ = broken_ || problem != std::errc{} || end != text.data() + text.size();
    return number;
  }
  template <class Number>
  Number number() {
    return number_in<Number>(word());
  }
  LeafId leaf() { return leaf_in(word()); }
  LeafId leaf_in(std::string_view text) {
    const auto leaf = number_in<std::uint32_t>(text);
    broken_ = broken_ || leaf >= most_leaves;
    return LeafId{broken_ ? 0 : leaf};
  }
  AttemptId attempt() { return AttemptId{number<std::uint32_t>()}; }
  Duration duration() { return Duration{number<Duration::rep>()}; }
  Instant instant() { return Instant{duration()}; }
  AttemptReport report() {
    AttemptReport report;
    report.queue_time = duration();
    report.service_time = duration();
    report.queued = number<std::uint32_t>();
    report.running = number<std::uint32_t>();
    return report;
  }
  std::vector<LeafId> leaves_in(std::string_view text) {
    std::vector<LeafId> leaves;
    if (text == "-") return leaves;
    while (!broken_) {
      const auto end = std::min(text.find(','), text.size());
      leaves.push_back(leaf_in(text.substr(0, end)));
      if (end == text.size()) break;
      text.remove_prefix(end + 1);
    }
    return leaves;
  }
  Fanout::Partition partition() {
    const std::string_view text = word();
    const auto first = std::min(text.find(':'), text.size());
    const auto second = std::min(text.find(':', first + 1), text.size());
    broken_ = broken_ || second == text.size();
    if (broken_) return {};
    return {PartitionId{number_in<std::uint32_t>(text.substr(0, first))}, leaves_in(text.substr(second + 1)),
            number_in<std::uint64_t>(text.substr(first + 1, second - first - 1))};
  }
  template <class Value>
  Value known(std::optional<Value> value) {
    broken_ = broken_ || !value;
    return value.value_or(Value{});
  }
  void break_unless(bool fine) { broken_ = broken_ || !fine; }

 private:
  std::string_view rest_;
  bool broken_ = false;
};

Fanout::Settings fanout_settings(Words& words) {
  Fanout::Settings settings;
  settings.search_end = words.instant();
  if (const auto early = words.word(); early != "-") settings.early_fetch = Instant{Duration{words.number_in<Duration::rep>(early)}};
  settings.hedge.mode = static_cast<HedgeChoice::Mode>(words.number<int>());
  settings.hedge.quantile = words.number<double>();
  settings.hedge.delay = words.duration();
  settings.tied = words.number<int>() != 0;
  settings.good_enough.min_completeness = words.number<double>();
  settings.good_enough.patience = words.duration();
  return settings;
}

}  // namespace

result<void> Replay::feed(std::string_view line) {
  ++lines_;
  const auto corrupt = [&](std::string_view what) {
    return Error{Errc::corrupt, "line " + std::to_string(lines_) + " of the recording: " + std::string(what)};
  };
  if (lines_ == 1) return line == recording_format ? result<void>() : corrupt("no recording that this version reads");
  if (lines_ == 2) return read_settings(line);

  const auto mark = std::min(line.find(outcome_mark), line.size());
  const std::string_view event = line.substr(0, mark);
  std::string_view recorded_outcome = line.substr(std::min(mark + outcome_mark.size(), line.size()));
  if (recorded_outcome.starts_with(' ')) recorded_outcome.remove_prefix(1);
  auto replayed = outcome_of(event);
  if (!replayed) return corrupt("cannot be read");
  if (mark == line.size() && replayed->empty()) return {};
  compare(event, recorded_outcome, std::move(*replayed));
  return {};
}

result<void> Replay::read_settings(std::string_view line) {
  SearchPolicySettings settings;
  std::map<std::string_view, std::string_view> values;
  Words words(line);
  words.break_unless(words.word() == "settings");
  while (!words.at_end() && !words.broken()) {
    const std::string_view word = words.word();
    const auto equals = std::min(word.find('='), word.size());
    values[word.substr(0, equals)] = word.substr(std::min(equals + 1, word.size()));
  }
  const auto seed = words.number_in<std::uint64_t>(values["seed"]);
  for_each_setting(settings, [&](std::string_view name, auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    using Number = decltype(as_number(value));
    const auto number = words.number_in<Number>(values[name]);
    if constexpr (std::is_same_v<Value, Duration>) {
      value = Duration{number};
    } else {
      value = static_cast<Value>(number);
    }
  });
  if (words.broken()) return Error{Errc::corrupt, "line 2 of the recording: no settings that this version reads"};
  policies_ = std::make_unique<SearchPolicies>(settings, seed);
  return {};
}

std::optional<std::string> Replay::outcome_of(std::string_view event) {
  Words words(event);
  const std::string_view word = words.word();
  SearchPolicies& policies = *policies_;
  if (word == "up" || word == "down") {
    const LeafId leaf = words.leaf();
    if (words.broken()) return std::nullopt;
    word == "up" ? policies.on_leaf_up(leaf) : policies.on_leaf_down(leaf);
    return "";
  }
  if (word == "budget") {
    const auto fill = words.number<double>(), depth = words.number<double>();
    const Instant now = words.instant();
    if (words.broken()) return std::nullopt;
    policies.set_hedge_budget(fill, depth, now);
    return "";
  }
  if (word == "choose") {
    const auto leaves = words.leaves_in(words.word()), tried = words.leaves_in(words.word());
    if (words.broken()) return std::nullopt;
    const auto chosen = policies.choose(leaves, tried);
    return chosen ? std::to_string(chosen->value) : "-";
  }
  if (word == "healthy") {
    const Instant now = words.instant();
    if (words.broken()) return std::nullopt;
    policies.healthy(now);
    return "";
  }
  if (word == "ended") {
    const LeafId leaf = words.leaf();
    if (words.broken()) return std::nullopt;
    policies.on_ended(leaf);
    return "";
  }
  if (word == "sent" || word == "answered" || word == "given_up" || word == "failed") {
    const LeafId leaf = words.leaf();
    const AttemptKind kind = words.known(attempt_kind_named(words.word()));
    const auto failure = word == "failed" ? words.known(failure_named(words.word())) : AttemptFailure::failed;
    const Duration since_sent = word == "answered" ? words.duration() : Duration::zero();
    const Duration since_turn = word == "sent" ? Duration::zero() : words.duration();
    const AttemptReport report = word == "answered" ? words.report() : AttemptReport{};
    const Instant now = words.instant();
    if (words.broken()) return std::nullopt;
    if (word == "sent") policies.on_sent(leaf, kind, now);
    if (word == "answered") policies.on_answered(leaf, kind, {since_sent, since_turn}, report, now);
    if (word == "given_up") policies.on_given_up(leaf, kind, since_turn, now);
    if (word == "failed") policies.on_failed(leaf, kind, failure, since_turn, now);
    return "";
  }

  const auto number = words.number<std::uint64_t>();
  if (word == "new") {
    const auto settings = fanout_settings(words);
    std::vector<Fanout::Partition> partitions;
    while (!words.at_end() && !words.broken()) partitions.push_back(words.partition());
    if (words.broken()) return std::nullopt;
    ++queries_;
    queries_by_number_[number] = std::make_unique<Fanout>(std::move(partitions), settings, policies);
    return "";
  }
  const auto found = queries_by_number_.find(number);
  if (words.broken() || found == queries_by_number_.end()) return std::nullopt;
  Fanout& fanout = *found->second;
  if (word == "gone") {
    attempts_ += fanout.attempts();
    queries_by_number_.erase(found);
    return "";
  }
  if (word == "adopt") {
    const auto index = words.number<std::size_t>();
    const LeafId leaf = words.leaf();
    if (words.broken() || index >= fanout.partitions().size()) return std::nullopt;
    fanout.adopt(index, leaf);
    return "";
  }
  const bool of_attempt = word == "answer" || word == "fail" || word == "started";
  const AttemptId attempt = of_attempt ? words.attempt() : AttemptId{};
  const AttemptReport report = word == "answer" ? words.report() : AttemptReport{};
  const auto failure = word == "fail" ? words.known(failure_named(words.word())) : AttemptFailure::failed;
  const Instant now = words.instant();
  if (words.broken()) return std::nullopt;
  // A replay that went astray may lack an attempt that was sent then.
  if (of_attempt && attempt.value >= fanout.attempts()) return "no such attempt";
  if (word == "answer") {
    const auto verdict = fanout.on_answer(attempt, report, now);
    const std::string actions = recorded(verdict.actions);
    return (verdict.merge ? "merge" : "drop") + (actions.empty() ? "" : ' ' + actions);
  }
  if (word == "fail") return recorded(fanout.on_failure(attempt, failure, now));
  if (word == "started") return recorded(fanout.on_started(attempt, now));
  if (word == "start") return recorded(fanout.start(now));
  if (word == "wake") return recorded(fanout.on_wake(now));
  if (word == "abandon") return recorded(fanout.abandon(now));
  return std::nullopt;
}

void Replay::compare(std::string_view event, std::string_view recorded_outcome, std::string replayed) {
  ++decisions_;
  if (recorded_outcome == replayed) return;
  ++differing_;
  if (differences_.size() == most_differences_kept) return;
  differences_.push_back({lines_, std::string(event), std::string(recorded_outcome), std::move(replayed)});
}

}  // namespace hedgerow::policy
