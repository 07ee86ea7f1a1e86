#include "root/policy/search_recorder.hpp"

#include <array>
#include <charconv>

#include "root/policy/cluster/attempt_report.hpp"
#include "root/policy/recorded_settings.hpp"

namespace hedgerow::policy {

namespace {

template <class Number>
void append(std::string& text, Number number) {
  std::array<char, 32> digits;
  const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), end);
}

void append_leaves(std::string& text, std::span<const LeafId> leaves) {
  if (leaves.empty()) text += '-';
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (i > 0) text += ',';
    append(text, leaves[i].value);
  }
}

void append_action(std::string& text, const Action& action) {
  if (const auto* send = std::get_if<SendAttempt>(&action)) {
    text += 's';
    append(text, send->attempt.value);
    text += ':';
    append(text, send->partition.value);
    text += ':';
    append(text, send->leaf.value);
    text += ':';
    text += to_string(send->kind);
    if (send->twin) {
      text += ':';
      append(text, send->twin->attempt.value);
      text += ':';
      append(text, send->twin->leaf.value);
    }
  } else if (const auto* cancel = std::get_if<CancelAttempt>(&action)) {
    text += 'c';
    append(text, cancel->attempt.value);
  } else if (const auto* wake = std::get_if<WakeAt>(&action)) {
    text += 'w';
    append(text, wake->at.time_since_epoch().count());
  } else if (std::holds_alternative<FetchEarly>(action)) {
    text += "early";
  } else if (const auto* finish = std::get_if<Finish>(&action)) {
    text += to_string(finish->reason);
  } else {
    text += '?';  // no action of a fan-out
  }
}

constexpr std::array failures{std::pair(AttemptFailure::refused, "refused"),
                              std::pair(AttemptFailure::expired, "expired"),
                              std::pair(AttemptFailure::unreachable, "unreachable"),
                              std::pair(AttemptFailure::failed, "failed"),
                              std::pair(AttemptFailure::bad_query, "bad_query"),
                              std::pair(AttemptFailure::superseded, "superseded")};

}  // namespace

SearchRecorder::SearchRecorder(Sink sink, const SearchPolicySettings& settings, std::uint64_t seed) : sink_(std::move(sink)) {
  sink_(recording_format);
  text_ = "settings seed=";
  append(text_, seed);
  for_each_setting(settings, [&](std::string_view name, const auto& value) {
    text_ += ' ';
    text_ += name;
    text_ += '=';
    append(text_, as_number(value));
  });
  sink_(text_);
}

SearchRecorder::Line::Line(SearchRecorder& recorder, std::string_view word) : recorder_(recorder) { recorder_.text_ = word; }
SearchRecorder::Line::~Line() { recorder_.sink_(recorder_.text_); }

SearchRecorder::Line& SearchRecorder::Line::add(std::string_view word) {
  recorder_.text_ += ' ';
  recorder_.text_ += word;
  return *this;
}

SearchRecorder::Line& SearchRecorder::Line::add(std::uint64_t number) {
  recorder_.text_ += ' ';
  append(recorder_.text_, number);
  return *this;
}

SearchRecorder::Line& SearchRecorder::Line::add(double number) {
  recorder_.text_ += ' ';
  append(recorder_.text_, number);
  return *this;
}

SearchRecorder::Line& SearchRecorder::Line::add(Instant instant) { return add(instant.time_since_epoch()); }

SearchRecorder::Line& SearchRecorder::Line::add(Duration duration) {
  recorder_.text_ += ' ';
  append(recorder_.text_, duration.count());
  return *this;
}

SearchRecorder::Line& SearchRecorder::Line::add(std::span<const LeafId> leaves) {
  recorder_.text_ += ' ';
  append_leaves(recorder_.text_, leaves);
  return *this;
}

SearchRecorder::Line& SearchRecorder::Line::add_partition(PartitionId partition, std::uint64_t documents,
                                                          std::span<const LeafId> replicas) {
  add(partition.value);
  recorder_.text_ += ':';
  append(recorder_.text_, documents);
  recorder_.text_ += ':';
  append_leaves(recorder_.text_, replicas);
  return *this;
}

SearchRecorder::Line& SearchRecorder::Line::add(const AttemptReport& report) {
  return add(report.queue_time).add(report.service_time).add(report.queued).add(report.running);
}

SearchRecorder::Line& SearchRecorder::Line::add(const Actions& actions) {
  for (const auto& action : actions) {
    recorder_.text_ += ' ';
    append_action(recorder_.text_, action);
  }
  return *this;
}

std::string recorded(const Actions& actions) {
  std::string text;
  for (const auto& action : actions) {
    if (!text.empty()) text += ' ';
    append_action(text, action);
  }
  return text;
}

std::string_view to_string(AttemptFailure failure) {
  for (const auto& [known, name] : failures) {
    if (known == failure) return name;
  }
  return "failed";
}

std::optional<AttemptFailure> failure_named(std::string_view name) {
  for (const auto& [known, known_name] : failures) {
    if (name == known_name) return known;
  }
  return std::nullopt;
}

std::optional<AttemptKind> attempt_kind_named(std::string_view name) {
  for (const auto kind : {AttemptKind::primary, AttemptKind::retry, AttemptKind::hedge, AttemptKind::tied,
                          AttemptKind::canary, AttemptKind::probe}) {
    if (name == to_string(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace hedgerow::policy
