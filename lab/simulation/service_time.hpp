// How long a piece of work takes, as a distribution that can be written in a line. Pure.
//
//   constant:5ms                 always the same
//   uniform:3ms..10ms
//   exponential:5ms              by its mean
//   erlang:15ms,6                by its mean and the number of exponential phases that it is the sum of
//   lognormal:5ms,0.7            by its median and the standard deviation of its logarithm
//   pieces:3ms=1,10ms=0.02,70ms=0.0032,1800ms=0.00001,cap=4s
//                                by points of Pr(longer than t): uniform between the first two, and then pieces of Pareto
//                                distributions through the points; the last one goes on to the cap, where what is left
//                                of it lies. Without a cap the last point must be 0 for uniform pieces to end at.
//   empirical:FILE               one duration a line, each as likely as the others; or "DURATION WEIGHT"
//   mix:0.9*constant:2ms+0.1*lognormal:20ms,0.5
//
// Values are copied freely; drawing is a few nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace hedgerow::lab::simulation {

class ServiceTime {
 public:
  // 1 ms, always.
  ServiceTime();
  // Errors: invalid_argument, with what is wrong; io for a file that cannot be read.
  static result<ServiceTime> parse(std::string_view text);
  static ServiceTime constant(Duration time);

  Duration draw(Random& random) const;
  // Pr(longer than t): what a closed form is made of.
  double longer_than(Duration time) const;
  double mean_seconds() const;
  const std::string& text() const { return text_; }

 private:
  enum class Kind : std::uint8_t { constant, exponential, erlang, lognormal, pieces, empirical, mix };
  // Between two times, and what is longer than each: straight, or a power of time.
  struct Piece {
    double begin, end;              // nanoseconds
    double longer_begin, longer_end;
    double exponent;                // of Pareto pieces; 0: straight
  };
  double draw_nanoseconds(Random& random) const;

  Kind kind_ = Kind::constant;
  double a_ = 1e6, b_ = 0;  // nanoseconds: the constant, the mean, the median; phases, sigma
  std::vector<Piece> pieces_;
  // Rising; the share of draws up to each.
  struct Sample {
    double nanoseconds, up_to;
  };
  std::vector<Sample> samples_;
  struct Part {
    double up_to;
    std::vector<ServiceTime> of;  // exactly one
  };
  std::vector<Part> parts_;
  std::string text_ = "constant:1ms";
};

}  // namespace hedgerow::lab::simulation
