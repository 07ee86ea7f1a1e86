#include "lab/arrivals.hpp"

namespace hedgerow::lab {

std::optional<ArrivalShape> parse_arrival_shape(std::string_view word) {
  if (word == "poisson") return ArrivalShape::poisson;
  if (word == "even") return ArrivalShape::even;
  return std::nullopt;
}

std::string_view to_string(ArrivalShape shape) { return shape == ArrivalShape::even ? "even" : "poisson"; }

Arrivals::Arrivals(ArrivalShape shape, double rate, Duration total, std::uint64_t seed)
    : shape_(shape), rate_(rate), total_(total), random_(seed) {}

std::optional<Duration> Arrivals::next() {
  if (shape_ == ArrivalShape::even) {
    seconds_ = static_cast<double>(count_) / rate_;  // from the count, so that no error adds up
  } else {
    seconds_ += random_.exponential(1 / rate_);
  }
  ++count_;
  if (seconds_ >= to_seconds(total_)) return std::nullopt;
  return Duration{static_cast<Duration::rep>(seconds_ * 1e9)};
}

}  // namespace hedgerow::lab
