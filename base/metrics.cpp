#include "base/metrics.hpp"

#include <prometheus/text_serializer.h>

namespace hedgerow {

prometheus::Counter& counter(prometheus::Registry& registry, const std::string& name, const std::string& help,
                             const MetricLabels& labels) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Gauge& gauge(prometheus::Registry& registry, const std::string& name, const std::string& help,
                         const MetricLabels& labels) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Histogram& latency_histogram(prometheus::Registry& registry, const std::string& name,
                                         const std::string& help, const MetricLabels& labels) {
  static const prometheus::Histogram::BucketBoundaries seconds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                               0.05,   0.075,   0.1,    0.15,  0.25,   0.5,   1,    2.5,
                                                               5,      10};
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(labels, seconds);
}

std::string metrics_text(const prometheus::Registry& registry) {
  return prometheus::TextSerializer().Serialize(registry.Collect());
}

}  // namespace hedgerow
