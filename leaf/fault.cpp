#include "leaf/fault.hpp"

#include <algorithm>

namespace hedgerow::leaf {

namespace {

using nlohmann::json;
using Phase = BackgroundWork::Phase;
using Takes = BackgroundWork::Takes;

constexpr std::size_t most_partitions = 65'536;
constexpr std::uint32_t most_threads = 256;
constexpr Duration shortest_length = std::chrono::milliseconds(1);

// What went wrong with a field's value; empty: nothing.
using Complaint = std::string;

std::string printed(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 80); }

Complaint read_duration(Duration& into, const json& value) {
  if (!value.is_string()) return "is not a duration such as \"200ms\"";
  const auto duration = parse_duration(value.get_ref<const std::string&>());
  if (duration.has_error()) return ": " + duration.error().context;
  into = *duration;
  return {};
}

// One of some words; names are given in their order.
template <class Choice>
Complaint read_choice(Choice& into, const json& value, std::initializer_list<std::pair<const char*, Choice>> choices) {
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (value.is_string() && value.get_ref<const std::string&>() == name) {
      into = choice;
      return {};
    }
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return "is none of " + names;
}

template <class Kinds>
std::string names_of(const Kinds& kinds) {
  std::string names;
  for (const auto kind : kinds) names += (names.empty() ? "" : ", ") + std::string(to_string(kind));
  return names;
}

Complaint read_work(std::vector<WorkKind>& into, const json& value) {
  if (!value.is_array() || value.empty()) return "is not a list of some of " + names_of(work_kinds);
  for (const json& name : value) {
    const auto known = std::find_if(work_kinds.begin(), work_kinds.end(), [&](WorkKind kind) {
      return name.is_string() && name.get_ref<const std::string&>() == to_string(kind);
    });
    if (known == work_kinds.end()) return ": " + printed(name) + " is none of " + names_of(work_kinds);
    if (std::find(into.begin(), into.end(), *known) == into.end()) into.push_back(*known);
  }
  return {};
}

Complaint read_partitions(std::vector<PartitionId>& into, const json& value) {
  const auto is_number = [](const json& entry) { return entry.is_number_unsigned() && entry.get<std::uint64_t>() <= UINT32_MAX; };
  if (!value.is_array() || value.empty() || value.size() > most_partitions || !std::all_of(value.begin(), value.end(), is_number)) {
    return "is not a list of partitions' numbers";
  }
  for (const json& number : value) into.push_back(PartitionId{number.get<std::uint32_t>()});
  return {};
}

Complaint read_phase(BackgroundWork& into, const json& value) {
  if (value == "aligned" || value == "staggered") {
    into.phase = value == "aligned" ? Phase::aligned : Phase::staggered;
    return {};
  }
  into.phase = Phase::given;
  const auto complaint = read_duration(into.given_phase, value);
  return complaint.empty() ? complaint : "is none of aligned, staggered and a duration such as \"300ms\"";
}

// Which kinds have a field.
enum class Of : std::uint8_t { all, work, delayed, background };

bool holds(Of of, FaultKind kind) {
  switch (of) {
    case Of::all: return true;
    case Of::work: return !is_of_leaf(kind);
    case Of::delayed: return has_delay(kind);
    case Of::background: return kind == FaultKind::background;
  }
  return false;
}

struct Reading {
  Fault& fault;
  const Distribution::ReadFile& read;
};

struct Field {
  const char* name;
  Of of;
  bool required;  // by the kinds that have it
  Complaint (*read)(Reading&, const json&);
};

constexpr Field fault_fields[] = {
    {"delay", Of::delayed, true,
     [](Reading& r, const json& value) -> Complaint {
       auto delay = Distribution::from_json(value, r.read);
       if (delay.has_error()) return ": " + delay.error().context;
       r.fault.delay = std::move(*delay);
       return {};
     }},
    {"probability", Of::work, false,
     [](Reading& r, const json& value) -> Complaint {
       if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= 1)) return "is not a number from 0 to 1";
       r.fault.probability = value.get<double>();
       return {};
     }},
    {"per", Of::work, false,
     [](Reading& r, const json& value) {
       return read_choice<DrawnPer>(r.fault.per, value, {{"work", DrawnPer::work}, {"query", DrawnPer::query}});
     }},
    {"seed", Of::work, false,
     [](Reading& r, const json& value) -> Complaint {
       if (!value.is_number_unsigned()) return "is not a whole number";
       r.fault.seed = value.get<std::uint64_t>();
       return {};
     }},
    {"partitions", Of::work, false, [](Reading& r, const json& value) { return read_partitions(r.fault.partitions, value); }},
    {"work", Of::work, false, [](Reading& r, const json& value) { return read_work(r.fault.work, value); }},
    {"word", Of::work, false,
     [](Reading& r, const json& value) -> Complaint {
       if (!value.is_string() || value.get_ref<const std::string&>().empty()) return "is not a word";
       r.fault.word = value.get<std::string>();
       return {};
     }},
    {"query", Of::work, false,
     [](Reading& r, const json& value) -> Complaint {
       if (!value.is_string()) return "is not a pattern of words";
       auto pattern = QueryPattern::parse(value.get_ref<const std::string&>());
       if (pattern.has_error()) return pattern.error().context;
       r.fault.query = std::move(*pattern);
       return {};
     }},
    {"after", Of::all, false, [](Reading& r, const json& value) { return read_duration(r.fault.after, value); }},
    {"for", Of::all, false,
     [](Reading& r, const json& value) {
       Duration lasting{};
       auto complaint = read_duration(lasting, value);
       if (complaint.empty() && lasting <= Duration::zero()) complaint = "is not above 0";
       r.fault.lasting = lasting;
       return complaint;
     }},
    {"period", Of::background, true, [](Reading& r, const json& value) { return read_duration(r.fault.background.period, value); }},
    {"length", Of::background, true, [](Reading& r, const json& value) { return read_duration(r.fault.background.length, value); }},
    {"phase", Of::background, false, [](Reading& r, const json& value) { return read_phase(r.fault.background, value); }},
    {"takes", Of::background, false,
     [](Reading& r, const json& value) {
       return read_choice<Takes>(r.fault.background.takes, value, {{"workers", Takes::workers}, {"processor", Takes::processor}});
     }},
    {"threads", Of::background, false,
     [](Reading& r, const json& value) -> Complaint {
       if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > most_threads) {
         return "is not a whole number from 1 to " + std::to_string(most_threads);
       }
       r.fault.background.threads = value.get<std::uint32_t>();
       return {};
     }},
};

bool is_of_listing(const std::string& name) { return name == "applied" || name == "state" || name == "remaining"; }

result<Fault> parse_fault(const json& value, std::size_t number, const Distribution::ReadFile& read) {
  const auto wrong = [&](const std::string& what) {
    return Error{Errc::invalid_argument, "fault " + std::to_string(number) + ": " + what};
  };
  // "'delay' is missing", but "'delay': 5 is no duration".
  const auto wrong_field = [&](const std::string& name, const Complaint& what) {
    return wrong("'" + name.substr(0, 80) + "'" + (what.starts_with(':') ? "" : " ") + what);
  };
  if (!value.is_object()) return wrong("is not an object");
  Fault fault;
  const auto named = value.find("kind");
  if (named == value.end()) return wrong("'kind' is missing");
  const auto kind = std::find_if(fault_kinds.begin(), fault_kinds.end(), [&](FaultKind known) {
    return named->is_string() && named->get_ref<const std::string&>() == to_string(known);
  });
  if (kind == fault_kinds.end()) return wrong("'kind' is none of " + names_of(fault_kinds));
  fault.kind = *kind;

  Reading reading{fault, read};
  for (const auto& [name, field] : value.items()) {
    if (name == "kind" || is_of_listing(name)) continue;
    const auto known = std::find_if(std::begin(fault_fields), std::end(fault_fields), [&](const Field& f) { return name == f.name; });
    if (known == std::end(fault_fields)) return wrong("unknown field '" + name.substr(0, 80) + "'");
    if (!holds(known->of, fault.kind)) return wrong_field(name, "makes no sense for " + std::string(to_string(fault.kind)));
    if (const auto complaint = known->read(reading, field); !complaint.empty()) return wrong_field(name, complaint);
  }
  for (const Field& field : fault_fields) {
    if (field.required && holds(field.of, fault.kind) && !value.contains(field.name)) return wrong_field(field.name, "is missing");
  }

  const BackgroundWork& background = fault.background;
  if (fault.kind != FaultKind::background) return fault;
  if (background.length < shortest_length || background.length >= background.period) {
    return wrong_field("length", "is not at least 1ms and below 'period'");
  }
  if (value.contains("threads") && background.takes != Takes::processor) {
    return wrong_field("threads", "makes no sense where no processor is taken");
  }
  return fault;
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::late: return "late";
    case FaultKind::hold: return "hold";
    case FaultKind::burn: return "burn";
    case FaultKind::error: return "error";
    case FaultKind::refused: return "refused";
    case FaultKind::black_hole: return "black_hole";
    case FaultKind::garbage: return "garbage";
    case FaultKind::crash: return "crash";
    case FaultKind::pause: return "pause";
    case FaultKind::background: return "background";
  }
  return "late";
}

result<std::vector<Fault>> parse_faults(const json& value, const Distribution::ReadFile& read) {
  const json* list = &value;
  if (value.is_object() && value.size() == 1 && value.contains("faults")) list = &value["faults"];
  if (!list->is_array()) {
    return Error{Errc::invalid_argument, "the body is neither a list of faults nor {\"faults\": […]}"};
  }
  if (list->size() > most_faults) return Error{Errc::too_large, "more than " + std::to_string(most_faults) + " faults"};
  std::vector<Fault> faults;
  std::uint32_t threads = 0;
  for (const json& entry : *list) {
    auto fault = parse_fault(entry, faults.size() + 1, read);
    if (fault.has_error()) return fault.error();
    if (fault->background.takes == Takes::processor) threads += fault->background.threads;
    if (threads > most_threads) {
      return Error{Errc::too_large, "fault " + std::to_string(faults.size() + 1) + ": 'threads' are more than " +
                                        std::to_string(most_threads) + " with those before it"};
    }
    faults.push_back(std::move(*fault));
  }
  return faults;
}

json to_json(const Fault& fault) {
  json value{{"kind", to_string(fault.kind)}};
  if (has_delay(fault.kind)) value["delay"] = fault.delay.to_json();
  if (!is_of_leaf(fault.kind)) {
    value["probability"] = fault.probability;
    value["seed"] = fault.seed;
  }
  if (fault.per == DrawnPer::query) value["per"] = "query";
  for (const auto partition : fault.partitions) value["partitions"].push_back(partition.value);
  for (const auto kind : fault.work) value["work"].push_back(to_string(kind));
  if (!fault.word.empty()) value["word"] = fault.word;
  if (fault.query) value["query"] = fault.query->text();
  if (fault.after > Duration::zero()) value["after"] = format_duration(fault.after);
  if (fault.lasting) value["for"] = format_duration(*fault.lasting);
  if (fault.kind == FaultKind::background) {
    const BackgroundWork& work = fault.background;
    value["period"] = format_duration(work.period);
    value["length"] = format_duration(work.length);
    value["phase"] = work.phase == Phase::aligned     ? "aligned"
                     : work.phase == Phase::staggered ? "staggered"
                                                      : format_duration(work.given_phase);
    value["takes"] = work.takes == Takes::workers ? "workers" : "processor";
    if (work.takes == Takes::processor) value["threads"] = work.threads;
  }
  return value;
}

}  // namespace hedgerow::leaf
