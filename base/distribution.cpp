#include "base/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hedgerow {

namespace {

double nanoseconds(Duration duration) { return static_cast<double>(duration.count()); }

constexpr double longest_nanoseconds = static_cast<double>(Distribution::longest.count());

}  // namespace

Distribution::Distribution() = default;

Distribution Distribution::constant(Duration time) {
  Distribution out;
  out.a_ = nanoseconds(time);
  out.text_ = "constant:" + format_duration(time);
  return out;
}

result<Distribution> Distribution::empirical(std::vector<Sample> samples) {
  if (samples.empty()) return Error{Errc::invalid_argument, "no durations"};
  if (samples.size() > most_samples) {
    return Error{Errc::too_large, "more than " + std::to_string(most_samples) + " durations"};
  }
  double sum = 0;
  for (const Sample& sample : samples) {
    if (!(sample.weight >= 0) || !std::isfinite(sample.weight)) {
      return Error{Errc::invalid_argument, "a weight is a number of at least 0"};
    }
    if (sample.time < Duration::zero()) return Error{Errc::invalid_argument, "a duration is negative"};
    sum += sample.weight;
  }
  if (!(sum > 0) || !std::isfinite(sum)) return Error{Errc::invalid_argument, "the weights add up to nothing"};
  std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.time < b.time; });

  auto measured = std::make_shared<std::vector<Measured>>();
  measured->reserve(samples.size());
  double so_far = 0;
  for (const Sample& sample : samples) {
    so_far += sample.weight / sum;
    if (!measured->empty() && measured->back().nanoseconds == nanoseconds(sample.time)) {
      measured->back().weight += sample.weight;
      measured->back().up_to = so_far;
    } else {
      measured->push_back({nanoseconds(sample.time), sample.weight, so_far});
    }
  }
  // Whatever rounding left out, or put beyond: the last one that is ever drawn ends at 1.
  for (auto entry = measured->rbegin(); entry != measured->rend(); ++entry) {
    entry->up_to = 1;
    if (entry->weight > 0) break;
  }
  Distribution out;
  out.kind_ = Kind::empirical;
  out.measured_ = std::move(measured);
  out.text_ = "empirical:(" + std::to_string(samples.size()) + " durations)";
  return out;
}

double Distribution::draw_nanoseconds(Random& random) const {
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
        if (longer < piece.longer_end || piece.longer_begin == piece.longer_end) continue;  // a flat piece is never drawn
        if (piece.exponent == 0) {
          return piece.end - (longer - piece.longer_end) / (piece.longer_begin - piece.longer_end) * (piece.end - piece.begin);
        }
        return piece.begin * std::pow(longer / piece.longer_begin, -1 / piece.exponent);
      }
      return pieces_.back().end;
    }
    case Kind::empirical: {
      const double share = random.uniform();
      const auto found = std::upper_bound(measured_->begin(), measured_->end(), share,
                                          [](double value, const Measured& entry) { return value < entry.up_to; });
      return (found == measured_->end() ? measured_->back() : *found).nanoseconds;
    }
    case Kind::mix: {
      const double share = random.uniform();
      for (const Part& part : parts_) {
        if (share < part.up_to) return part.of->draw_nanoseconds(random);
      }
      return parts_.back().of->draw_nanoseconds(random);
    }
  }
  return a_;
}

Duration Distribution::draw(Random& random) const {
  return Duration{static_cast<Duration::rep>(std::min(draw_nanoseconds(random), longest_nanoseconds))};
}

double Distribution::longer_than(Duration time) const {
  if (time >= longest) return 0;
  const double t = nanoseconds(time);
  if (t < 0) return 1;
  switch (kind_) {
    case Kind::constant: return t < a_ ? 1 : 0;
    case Kind::exponential: return a_ == 0 ? 0 : std::exp(-t / a_);
    case Kind::erlang: {
      if (a_ == 0) return 0;
      const double x = b_ * t / a_;
      double term = std::exp(-x), sum = term;
      for (double i = 1; i < b_; ++i) sum += term *= x / i;
      return sum;
    }
    case Kind::lognormal: {
      if (b_ == 0 || a_ == 0) return t < a_ ? 1 : 0;
      return t <= 0 ? 1 : 0.5 * std::erfc(std::log(t / a_) / (b_ * std::numbers::sqrt2));
    }
    case Kind::pieces:
      if (t < pieces_.front().begin) return 1;
      for (const Piece& piece : pieces_) {
        if (t >= piece.end) continue;
        if (piece.exponent != 0) return piece.longer_begin * std::pow(t / piece.begin, -piece.exponent);
        return piece.longer_begin + (t - piece.begin) / (piece.end - piece.begin) * (piece.longer_end - piece.longer_begin);
      }
      return 0;
    case Kind::empirical: {
      const auto after = std::upper_bound(measured_->begin(), measured_->end(), t,
                                          [](double value, const Measured& entry) { return value < entry.nanoseconds; });
      return after == measured_->begin() ? 1 : 1 - std::prev(after)->up_to;
    }
    case Kind::mix: {
      double longer = 0, before = 0;
      for (const Part& part : parts_) {
        longer += (part.up_to - before) * part.of->longer_than(time);
        before = part.up_to;
      }
      return longer;
    }
  }
  return 0;
}

Duration Distribution::quantile(double share) const {
  // What the sums of shares lose to rounding must not push a quantile to the next longer duration.
  constexpr double rounding = 1e-12;
  const double longer = 1 - std::clamp(share, 0.0, 1.0) + rounding;
  Duration::rep low = 0, high = longest.count();
  while (low < high) {
    const Duration::rep middle = low + (high - low) / 2;
    if (longer_than(Duration{middle}) <= longer) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return Duration{low};
}

double Distribution::mean_seconds() const {
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
      for (const Measured& entry : *measured_) {
        sum += (entry.up_to - before) * entry.nanoseconds;
        before = entry.up_to;
      }
      return sum * 1e-9;
    }
    case Kind::mix: {
      double sum = 0, before = 0;
      for (const Part& part : parts_) {
        sum += (part.up_to - before) * part.of->mean_seconds();
        before = part.up_to;
      }
      return sum;
    }
  }
  return 0;
}

}  // namespace hedgerow
