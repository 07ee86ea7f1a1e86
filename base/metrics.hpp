// Prometheus metrics, by prometheus-cpp: each program declares its own in one file (leaf/metrics, root/metrics).
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <string>
#include <vector>

namespace hedgerow {

using MetricLabels = std::map<std::string, std::string>;

// Declare-and-get: a second call with the same name and labels gives the same metric. The registry owns them.
prometheus::Counter& counter(prometheus::Registry& registry, const std::string& name, const std::string& help,
                             const MetricLabels& labels = {});
prometheus::Gauge& gauge(prometheus::Registry& registry, const std::string& name, const std::string& help,
                         const MetricLabels& labels = {});
// Buckets of latencies in seconds from 100 us to 10 s.
prometheus::Histogram& latency_histogram(prometheus::Registry& registry, const std::string& name,
                                         const std::string& help, const MetricLabels& labels = {});

// The text exposition format, version 0.0.4, as served at /metrics.
std::string metrics_text(const prometheus::Registry& registry);

}  // namespace hedgerow
