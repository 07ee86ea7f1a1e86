// How distributions are written in a line, and measured durations in a file.
#include <charconv>
#include <cmath>
#include <fstream>

#include "base/distribution.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t longest_file = 64 << 20;

Error wrong(std::string_view text, const std::string& why) {
  return {Errc::invalid_argument, "'" + std::string(text.substr(0, 80)) + "' is no distribution: " + why};
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

double as_nanoseconds(Duration duration) { return static_cast<double>(duration.count()); }

constexpr std::string_view cap_word = "cap=";

}  // namespace

// One kind a function; each is given what stands behind the colon.
class DistributionReader {
 public:
  using Read = result<Distribution>;
  using ReadFile = Distribution::ReadFile;
  using Kind = Distribution::Kind;

  DistributionReader(std::string_view text, const ReadFile& read) : text_(text), read_(read) {}

  Read read() const {
    const auto colon = text_.find(':');
    if (colon == std::string_view::npos) {
      const auto time = parse_duration(text_);
      if (time.has_error()) return no("write a duration such as 5ms, or KIND:VALUES, such as uniform:3ms..10ms");
      return named(Distribution::constant(*time));
    }
    const std::string_view kind = text_.substr(0, colon), values = text_.substr(colon + 1);
    if (kind == "constant" || kind == "exponential") return of_one_time(kind == "constant" ? Kind::constant : Kind::exponential, values);
    if (kind == "uniform") return uniform(values);
    if (kind == "erlang") return erlang(values);
    if (kind == "lognormal") return lognormal(values);
    if (kind == "pareto") return pareto(values);
    if (kind == "pieces") return pieces(values);
    if (kind == "empirical") return empirical(values);
    if (kind == "mix") return mix(values);
    return no("its kind is none of constant, uniform, exponential, erlang, lognormal, pareto, pieces, empirical, mix");
  }

 private:
  using Piece = Distribution::Piece;

  Error no(const std::string& why) const { return wrong(text_, why); }

  Read named(Distribution of) const {
    of.text_ = text_;
    return of;
  }
  Read named(Kind kind, double a, double b = 0) const {
    Distribution out;
    out.kind_ = kind;
    out.a_ = a;
    out.b_ = b;
    return named(std::move(out));
  }
  Read named(std::vector<Piece> pieces) const {
    Distribution out;
    out.kind_ = Kind::pieces;
    out.pieces_ = std::move(pieces);
    return named(std::move(out));
  }

  Read of_one_time(Kind kind, std::string_view values) const {
    const auto time = parse_duration(values);
    if (time.has_error()) return time.error();
    return named(kind, as_nanoseconds(*time));
  }

  Read uniform(std::string_view values) const {
    const auto dots = values.find("..");
    if (dots == std::string_view::npos) return no("write uniform:3ms..10ms");
    const auto from = parse_duration(values.substr(0, dots)), to = parse_duration(values.substr(dots + 2));
    if (from.has_error()) return from.error();
    if (to.has_error()) return to.error();
    if (*to <= *from) return no("its end is not after its begin");
    return named({Piece{as_nanoseconds(*from), as_nanoseconds(*to), 1, 0, 0}});
  }

  Read erlang(std::string_view values) const {
    const auto parts = split(values, ',');
    if (parts.size() != 2) return no("write erlang:MEAN,PHASES");
    const auto mean = parse_duration(parts[0]);
    if (mean.has_error()) return mean.error();
    const auto phases = number_in(parts[1]);
    if (!phases || *phases < 1 || *phases > 1000 || *phases != std::floor(*phases)) return no("phases are a whole number");
    return named(Kind::erlang, as_nanoseconds(*mean), *phases);
  }

  Read lognormal(std::string_view values) const {
    const auto parts = split(values, ',');
    if (parts.size() != 2) return no("write lognormal:MEDIAN,SIGMA");
    const auto median = parse_duration(parts[0]);
    if (median.has_error()) return median.error();
    const auto sigma = number_in(parts[1]);
    if (!sigma || *sigma < 0) return no("sigma is a number of at least 0");
    return named(Kind::lognormal, as_nanoseconds(*median), *sigma);
  }

  Read pareto(std::string_view values) const {
    const auto parts = split(values, ',');
    if (parts.size() < 2 || parts.size() > 3) return no("write pareto:SHORTEST,EXPONENT or pareto:SHORTEST,EXPONENT,cap=TIME");
    const auto shortest = parse_duration(parts[0]);
    if (shortest.has_error()) return shortest.error();
    const auto exponent = number_in(parts[1]);
    if (!exponent || !(*exponent > 0)) return no("the exponent is a number above 0");
    Duration cap = Distribution::longest;
    if (parts.size() == 3) {
      if (!parts[2].starts_with(cap_word)) return no("its end is cap=TIME");
      const auto given = parse_duration(parts[2].substr(cap_word.size()));
      if (given.has_error()) return given.error();
      cap = *given;
    }
    if (*shortest <= Duration::zero() || cap <= *shortest) return no("its shortest time is above 0, and its cap above that");
    const double begin = as_nanoseconds(*shortest), end = as_nanoseconds(cap);
    return named({Piece{begin, end, 1, std::pow(end / begin, -*exponent), *exponent}});
  }

  Read pieces(std::string_view values) const {
    std::optional<double> cap;
    std::vector<std::pair<double, double>> points;
    for (const auto part : split(values, ',')) {
      const auto equals = part.find('=');
      if (equals == std::string_view::npos) return no("points are TIME=SHARE, and the end is cap=TIME");
      const bool is_cap = part.starts_with(cap_word);
      const auto time = parse_duration(is_cap ? part.substr(equals + 1) : part.substr(0, equals));
      if (time.has_error()) return time.error();
      if (is_cap) {
        cap = as_nanoseconds(*time);
        continue;
      }
      const auto share = number_in(part.substr(equals + 1));
      if (!share || *share < 0 || *share > 1) return no("a share is from 0 to 1");
      if (!points.empty() && (as_nanoseconds(*time) <= points.back().first || *share > points.back().second)) {
        return no("times rise, and shares fall");
      }
      points.emplace_back(as_nanoseconds(*time), *share);
    }
    if (points.size() < 2 || points.front().second != 1) return no("it begins with TIME=1, and has a second point");
    std::vector<Piece> out;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      const auto [begin, longer_begin] = points[i];
      const auto [end, longer_end] = points[i + 1];
      const bool straight = i == 0 || longer_end == 0 || begin == 0;
      const double exponent = straight ? 0 : std::log(longer_begin / longer_end) / std::log(end / begin);
      out.push_back({begin, end, longer_begin, longer_end, exponent});
    }
    if (points.back().second > 0) {
      if (!cap || *cap < points.back().first) return no("what is left at the last point needs a later cap=TIME");
      const Piece last = out.back();
      const double left = points.back().second * std::pow(*cap / last.end, -last.exponent);
      if (*cap > last.end) out.push_back({last.end, *cap, points.back().second, left, last.exponent});
    }
    return named(std::move(out));
  }

  Read empirical(std::string_view values) const {
    const auto text = read_(std::string(values));
    if (text.has_error()) return text.error();
    auto samples = parse_samples(*text);
    if (samples.has_error()) return Error{samples.error().code, std::string(values) + ": " + samples.error().context};
    auto out = Distribution::empirical(std::move(*samples));
    if (out.has_error()) return Error{out.error().code, std::string(values) + ": " + out.error().context};
    return named(std::move(*out));
  }

  Read mix(std::string_view values) const {
    std::vector<Distribution::Share> shares;
    for (const auto part : split(values, '+')) {
      const auto star = part.find('*');
      const auto share = star == std::string_view::npos ? std::nullopt : number_in(part.substr(0, star));
      if (!share) return no("write mix:SHARE*DISTRIBUTION+SHARE*DISTRIBUTION");
      auto of = DistributionReader(part.substr(star + 1), read_).read();
      if (of.has_error()) return of.error();
      shares.push_back({*share, std::move(*of)});
    }
    auto out = Distribution::mix(std::move(shares));
    if (out.has_error()) return no(out.error().context);
    return named(std::move(*out));
  }

  std::string_view text_;
  const ReadFile& read_;
};

result<Distribution> Distribution::mix(std::vector<Share> shares) {
  const auto no = [](const char* why) { return Error{Errc::invalid_argument, why}; };
  Distribution out;
  out.kind_ = Kind::mix;
  double so_far = 0;
  for (auto& [share, of] : shares) {
    if (!(share > 0)) return no("a share is above 0");
    if (of.kind_ == Kind::mix) return no("a mix of mixes is written as one");
    so_far += share;
    out.parts_.push_back({so_far, share, std::make_shared<const Distribution>(std::move(of))});
  }
  if (out.parts_.empty() || !(std::abs(so_far - 1) <= 1e-9)) return no("the shares of a mix add up to 1");
  out.parts_.back().up_to = 1;
  out.text_ = "mix:(" + std::to_string(out.parts_.size()) + " distributions)";
  return out;
}

result<Distribution> Distribution::parse(std::string_view text, const ReadFile& read) {
  return DistributionReader(text, read).read();
}

result<Distribution> Distribution::parse(std::string_view text) { return parse(text, read_sample_file); }

result<std::vector<Distribution::Sample>> parse_samples(std::string_view text) {
  std::vector<Distribution::Sample> samples;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    constexpr std::string_view blanks = " \t\r";
    const auto first = line.find_first_not_of(blanks);
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(blanks) + 1 - first);

    const auto no = [&](const std::string& why) {
      return Error{Errc::invalid_argument, "line " + std::to_string(number) + ": " + why};
    };
    const auto blank = line.find_first_of(blanks);
    const auto time = parse_duration(line.substr(0, blank));
    if (time.has_error()) return no(time.error().context);
    Distribution::Sample sample{*time};
    if (blank != std::string_view::npos) {
      const auto weight = number_in(line.substr(line.find_first_not_of(blanks, blank)));
      if (!weight || *weight < 0) return no("a weight is a number of at least 0");
      sample.weight = *weight;
    }
    if (samples.size() == Distribution::most_samples) {
      return Error{Errc::too_large, "more than " + std::to_string(Distribution::most_samples) + " durations"};
    }
    samples.push_back(sample);
  }
  return samples;
}

result<std::string> read_sample_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Errc::io, "cannot read '" + path + "'"};
  std::string text;
  char some[65'536];
  while (file.read(some, sizeof some), file.gcount() > 0) {
    text.append(some, static_cast<std::size_t>(file.gcount()));
    if (text.size() > longest_file) return Error{Errc::too_large, "'" + path + "' is larger than 64 MiB"};
  }
  if (file.bad()) return Error{Errc::io, "cannot read '" + path + "'"};
  return text;
}

}  // namespace hedgerow
