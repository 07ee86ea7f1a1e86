// How long something takes, or is delayed, as a distribution of durations that can be written in a line: what the leaf's
// faults and the simulator's worlds are made of. Pure and seeded; only read_sample_file touches a file.
//
//   5ms  (or constant:5ms)       always the same
//   uniform:3ms..10ms
//   exponential:5ms              by its mean
//   erlang:15ms,6                by its mean and the number of exponential phases that it is the sum of
//   lognormal:5ms,0.7            by its median and the standard deviation of its logarithm
//   pareto:1ms,1.5,cap=2s        by the shortest and the exponent: Pr(longer than t) = (shortest / t)^exponent, up to the cap
//                                (24h where there is none), where what is left of it lies
//   pieces:3ms=1,10ms=0.02,70ms=0.0032,1800ms=0.00001,cap=4s
//                                by points of Pr(longer than t): uniform between the first two, and then pieces of Pareto
//                                distributions through the points; the last one goes on to the cap, where what is left
//                                of it lies. Without a cap the last point must be 0 for uniform pieces to end at.
//   empirical:FILE               measured ones: see parse_samples
//   mix:0.9*constant:2ms+0.1*lognormal:20ms,0.5
//
// In JSON it is the line as a string, or, to carry measured durations along, {"empirical": ["1ms", ["2ms", 3], …]}, of which
// a mix is {"mix": [[0.9, "2ms"], [0.1, {"empirical": […]}]]}.
//
// 1. Nothing is longer than 24 hours: what would be is drawn as 24 hours.
// 2. draw, longer_than, quantile and mean_seconds agree: the first is drawn by the others' law (tests/base). Only the mean of
//    exponential, erlang and lognormal is that of the whole law, without the bound of 24 hours.
// 3. The same seed draws the same on every machine, and from one version to the next.
//
// Values are copied freely (measured ones share their samples); drawing is a few nanoseconds. Thread-safe as a const.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace hedgerow {

class Distribution {
 public:
  static constexpr Duration longest = std::chrono::hours(24);
  static constexpr std::size_t most_samples = 1'000'000;

  struct Sample {
    Duration time{};
    double weight = 1;
  };
  // Gives the text of the file that empirical:FILE names.
  using ReadFile = std::function<result<std::string>(const std::string& name)>;

  // 1 ms, always.
  Distribution();
  static Distribution constant(Duration time);
  // Durations that were measured, each drawn as often as its weight says; equal ones are kept as one. Errors: invalid_argument for none, for weights
  // that are no share of anything; too_large beyond most_samples.
  static result<Distribution> empirical(std::vector<Sample> samples);

  // So large a share of what is drawn is drawn from each. Errors: invalid_argument, where the shares do not add up to 1.
  struct Share;
  static result<Distribution> mix(std::vector<Share> shares);

  // Errors: invalid_argument, with what is wrong; those of the reader.
  static result<Distribution> parse(std::string_view text, const ReadFile& read);
  static result<Distribution> parse(std::string_view text);  // with read_sample_file
  static result<Distribution> from_json(const nlohmann::json& json, const ReadFile& read);

  Duration draw(Random& random) const;
  // Pr(longer than t): what a closed form is made of.
  double longer_than(Duration time) const;
  // The shortest time that a share of at least so much is not longer than; share from 0 to 1.
  Duration quantile(double share) const;
  double mean_seconds() const;

  // As it was written; for measured ones without a file "empirical:(12 durations)", which cannot be read back.
  const std::string& text() const { return text_; }
  // Can always be read back, without a file: what was read from one is carried along.
  nlohmann::json to_json() const;
  // Always the same.
  bool is_constant() const { return kind_ == Kind::constant; }

 private:
  friend class DistributionReader;
  enum class Kind : std::uint8_t { constant, exponential, erlang, lognormal, pieces, empirical, mix };
  // Between two times, and what is longer than each: straight, or a power of time.
  struct Piece {
    double begin, end;  // nanoseconds
    double longer_begin, longer_end;
    double exponent;  // of Pareto pieces; 0: straight
  };
  // Measured, rising.
  struct Measured {
    double nanoseconds;
    double weight;  // as it was given, of equal ones together
    double up_to;   // the share of draws up to it
  };
  struct Part {
    double up_to;
    double share;  // as it was given
    std::shared_ptr<const Distribution> of;
  };
  double draw_nanoseconds(Random& random) const;

  Kind kind_ = Kind::constant;
  double a_ = 1e6, b_ = 0;  // nanoseconds: the constant, the mean, the median; phases, sigma
  std::vector<Piece> pieces_;
  std::shared_ptr<const std::vector<Measured>> measured_;
  std::vector<Part> parts_;
  std::string text_ = "constant:1ms";
};

struct Distribution::Share {
  double share = 1;
  Distribution of;
};

// One duration a line, each as likely as the others, or a duration and its weight ("2ms 3"); empty lines and what follows
// a # are passed over. Errors: invalid_argument with the line's number; too_large beyond Distribution::most_samples.
result<std::vector<Distribution::Sample>> parse_samples(std::string_view text);

// Whatever file the process may read, up to 64 MiB. Errors: io, too_large.
result<std::string> read_sample_file(const std::string& path);

}  // namespace hedgerow
