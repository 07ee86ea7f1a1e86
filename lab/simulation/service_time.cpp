#include "lab/simulation/service_time.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numbers>
#include <optional>

namespace hedgerow::lab::simulation {

namespace {

Error wrong(std::string_view text, const std::string& why) {
  return {Errc::invalid_argument, "'" + std::string(text.substr(0, 80)) + "' is no distribution: " + why};
}

std::optional<double> number(std::string_view text) {
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

double nanoseconds(Duration duration) { return static_cast<double>(duration.count()); }

}  // namespace

ServiceTime::ServiceTime() = default;

ServiceTime ServiceTime::constant(Duration time) {
  ServiceTime out;
  out.a_ = nanoseconds(time);
  out.text_ = "constant:" + format_duration(time);
  return out;
}

result<ServiceTime> ServiceTime::parse(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return wrong(text, "write KIND:VALUES, such as uniform:3ms..10ms");
  const std::string_view kind = text.substr(0, colon), values = text.substr(colon + 1);
  ServiceTime out;
  out.text_ = text;

  if (kind == "constant" || kind == "exponential") {
    const auto time = parse_duration(values);
    if (time.has_error()) return time.error();
    out.kind_ = kind == "constant" ? Kind::constant : Kind::exponential;
    out.a_ = nanoseconds(*time);
    return out;
  }
  if (kind == "uniform") {
    const auto dots = values.find("..");
    if (dots == std::string_view::npos) return wrong(text, "write uniform:3ms..10ms");
    const auto from = parse_duration(values.substr(0, dots)), to = parse_duration(values.substr(dots + 2));
    if (from.has_error()) return from.error();
    if (to.has_error()) return to.error();
    if (*to <= *from) return wrong(text, "its end is not after its begin");
    out.kind_ = Kind::pieces;
    out.pieces_.push_back({nanoseconds(*from), nanoseconds(*to), 1, 0, 0});
    return out;
  }
  if (kind == "erlang") {
    const auto parts = split(values, ',');
    if (parts.size() != 2) return wrong(text, "write erlang:MEAN,PHASES");
    const auto mean = parse_duration(parts[0]);
    if (mean.has_error()) return mean.error();
    const auto phases = number(parts[1]);
    if (!phases || *phases < 1 || *phases > 1000 || *phases != std::floor(*phases)) return wrong(text, "phases are a whole number");
    out.kind_ = Kind::erlang;
    out.a_ = nanoseconds(*mean);
    out.b_ = *phases;
    return out;
  }
  if (kind == "lognormal") {
    const auto parts = split(values, ',');
    if (parts.size() != 2) return wrong(text, "write lognormal:MEDIAN,SIGMA");
    const auto median = parse_duration(parts[0]);
    if (median.has_error()) return median.error();
    const auto sigma = number(parts[1]);
    if (!sigma || *sigma < 0) return wrong(text, "sigma is a number of at least 0");
    out.kind_ = Kind::lognormal;
    out.a_ = nanoseconds(*median);
    out.b_ = *sigma;
    return out;
  }
  if (kind == "pieces") {
    out.kind_ = Kind::pieces;
    std::optional<double> cap;
    std::vector<std::pair<double, double>> points;
    for (const auto part : split(values, ',')) {
      const auto equals = part.find('=');
      if (equals == std::string_view::npos) return wrong(text, "points are TIME=SHARE, and the end is cap=TIME");
      const bool is_cap = part.substr(0, equals) == "cap";
      const auto time = parse_duration(is_cap ? part.substr(equals + 1) : part.substr(0, equals));
      if (time.has_error()) return time.error();
      if (is_cap) {
        cap = nanoseconds(*time);
        continue;
      }
      const auto share = number(part.substr(equals + 1));
      if (!share || *share < 0 || *share > 1) return wrong(text, "a share is from 0 to 1");
      if (!points.empty() && (nanoseconds(*time) <= points.back().first || *share > points.back().second)) {
        return wrong(text, "times rise, and shares fall");
      }
      points.emplace_back(nanoseconds(*time), *share);
    }
    if (points.size() < 2 || points.front().second != 1) return wrong(text, "it begins with TIME=1, and has a second point");
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      const auto [begin, longer_begin] = points[i];
      const auto [end, longer_end] = points[i + 1];
      const bool straight = i == 0 || longer_end == 0 || begin == 0;
      const double exponent = straight ? 0 : std::log(longer_begin / longer_end) / std::log(end / begin);
      out.pieces_.push_back({begin, end, longer_begin, longer_end, exponent});
    }
    if (points.back().second > 0) {
      if (!cap || *cap < points.back().first) return wrong(text, "what is left at the last point needs a later cap=TIME");
      const Piece& last = out.pieces_.back();
      const double left = points.back().second * std::pow(*cap / last.end, -last.exponent);
      if (*cap > last.end) out.pieces_.push_back({last.end, *cap, points.back().second, left, last.exponent});
    }
    return out;
  }
  if (kind == "empirical") {
    out.kind_ = Kind::empirical;
    std::ifstream file{std::string(values)};
    if (!file) return Error{Errc::io, "cannot read '" + std::string(values) + "'"};
    double sum = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      const auto space = line.find_first_of(" \t");
      const auto time = parse_duration(std::string_view(line).substr(0, space));
      if (time.has_error()) return time.error();
      const auto weight = space == std::string::npos ? std::optional<double>(1) : number(std::string_view(line).substr(space + 1));
      if (!weight || *weight < 0) return wrong(line, "a weight is a number of at least 0");
      sum += *weight;
      out.samples_.push_back({nanoseconds(*time), *weight});
    }
    if (sum <= 0) return wrong(text, "the file has no durations");
    std::sort(out.samples_.begin(), out.samples_.end(), [](const Sample& a, const Sample& b) { return a.nanoseconds < b.nanoseconds; });
    double so_far = 0;
    for (Sample& sample : out.samples_) sample.up_to = so_far += sample.up_to / sum;
    out.samples_.back().up_to = 1;
    return out;
  }
  if (kind == "mix") {
    out.kind_ = Kind::mix;
    double so_far = 0;
    for (const auto part : split(values, '+')) {
      const auto star = part.find('*');
      const auto share = star == std::string_view::npos ? std::nullopt : number(part.substr(0, star));
      if (!share || *share <= 0) return wrong(text, "write mix:SHARE*DISTRIBUTION+SHARE*DISTRIBUTION");
      auto of = parse(part.substr(star + 1));
      if (of.has_error()) return of.error();
      so_far += *share;
      out.parts_.push_back({so_far, {std::move(*of)}});
    }
    if (std::abs(so_far - 1) > 1e-9) return wrong(text, "the shares of a mix add up to 1");
    out.parts_.back().up_to = 1;
    return out;
  }
  return wrong(text, "its kind is none of constant, uniform, exponential, erlang, lognormal, pieces, empirical, mix");
}

double ServiceTime::draw_nanoseconds(Random& random) const {
  switch (kind_) {
    case Kind::constant: return a_;
    case Kind::exponential: return random.exponential(a_);
    case Kind::erlang: {
      // A sum of exponentials is the logarithm of a product; in pieces that do not underflow.
      double sum = 0, product = 1;
      for (double phase = 0; phase < b_; ++phase) {
        product *= 1 - random.uniform();
        if (product > 1e-200) continue;
        sum -= std::log(product);
        product = 1;
      }
      return (sum - std::log(product)) * a_ / b_;
    }
    case Kind::lognormal: return a_ * std::exp(b_ * random.normal());
    case Kind::pieces: {
      const double longer = 1 - random.uniform();  // in (0, 1]: so much is longer than what is drawn
      for (const Piece& piece : pieces_) {
        if (longer < piece.longer_end) continue;
        if (piece.exponent == 0) {
          return piece.end - (longer - piece.longer_end) / (piece.longer_begin - piece.longer_end) * (piece.end - piece.begin);
        }
        return piece.begin * std::pow(longer / piece.longer_begin, -1 / piece.exponent);
      }
      return pieces_.back().end;
    }
    case Kind::empirical: {
      const double share = random.uniform();
      const auto found = std::upper_bound(samples_.begin(), samples_.end(), share,
                                          [](double value, const Sample& sample) { return value < sample.up_to; });
      return (found == samples_.end() ? samples_.back() : *found).nanoseconds;
    }
    case Kind::mix: {
      const double share = random.uniform();
      for (const Part& part : parts_) {
        if (share < part.up_to) return part.of.front().draw_nanoseconds(random);
      }
      return parts_.back().of.front().draw_nanoseconds(random);
    }
  }
  return a_;
}

Duration ServiceTime::draw(Random& random) const {
  return Duration{static_cast<Duration::rep>(draw_nanoseconds(random))};
}

double ServiceTime::longer_than(Duration time) const {
  const double t = nanoseconds(time);
  if (t < 0) return 1;
  switch (kind_) {
    case Kind::constant: return t < a_ ? 1 : 0;
    case Kind::exponential: return std::exp(-t / a_);
    case Kind::erlang: {
      const double x = b_ * t / a_;
      double term = std::exp(-x), sum = term;
      for (double i = 1; i < b_; ++i) sum += term *= x / i;
      return sum;
    }
    case Kind::lognormal: return t <= 0 ? 1 : 0.5 * std::erfc(std::log(t / a_) / (b_ * std::numbers::sqrt2));
    case Kind::pieces:
      if (t < pieces_.front().begin) return 1;
      for (const Piece& piece : pieces_) {
        if (t >= piece.end) continue;
        if (piece.exponent != 0) return piece.longer_begin * std::pow(t / piece.begin, -piece.exponent);
        return piece.longer_begin + (t - piece.begin) / (piece.end - piece.begin) * (piece.longer_end - piece.longer_begin);
      }
      return 0;
    case Kind::empirical: {
      const auto after = std::upper_bound(samples_.begin(), samples_.end(), t,
                                          [](double value, const Sample& sample) { return value < sample.nanoseconds; });
      return after == samples_.begin() ? 1 : 1 - std::prev(after)->up_to;
    }
    case Kind::mix: {
      double longer = 0, before = 0;
      for (const Part& part : parts_) {
        longer += (part.up_to - before) * part.of.front().longer_than(time);
        before = part.up_to;
      }
      return longer;
    }
  }
  return 0;
}

double ServiceTime::mean_seconds() const {
  switch (kind_) {
    case Kind::constant:
    case Kind::exponential:
    case Kind::erlang: return a_ * 1e-9;
    case Kind::lognormal: return a_ * 1e-9 * std::exp(b_ * b_ / 2);
    case Kind::pieces: {
      // The mean is the integral of what is longer.
      double sum = pieces_.front().begin;
      for (const Piece& piece : pieces_) {
        if (piece.exponent == 0) {
          sum += (piece.end - piece.begin) * (piece.longer_begin + piece.longer_end) / 2;
        } else if (std::abs(piece.exponent - 1) < 1e-9) {
          sum += piece.longer_begin * piece.begin * std::log(piece.end / piece.begin);
        } else {
          const double power = 1 - piece.exponent;
          sum += piece.longer_begin * piece.begin / power * (std::pow(piece.end / piece.begin, power) - 1);
        }
      }
      return sum * 1e-9;
    }
    case Kind::empirical: {
      double sum = 0, before = 0;
      for (const Sample& sample : samples_) {
        sum += (sample.up_to - before) * sample.nanoseconds;
        before = sample.up_to;
      }
      return sum * 1e-9;
    }
    case Kind::mix: {
      double sum = 0, before = 0;
      for (const Part& part : parts_) {
        sum += (part.up_to - before) * part.of.front().mean_seconds();
        before = part.up_to;
      }
      return sum;
    }
  }
  return 0;
}

}  // namespace hedgerow::lab::simulation
