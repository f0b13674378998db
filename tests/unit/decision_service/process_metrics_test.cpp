#include "services/decision_service/process_metrics.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace rampart::decision_service {
namespace {

/// The value of a line without labels.
double value_of(const std::string& text, const std::string& name) {
    const size_t at = text.find("\n" + name + " ");
    EXPECT_NE(at, std::string::npos) << name << "\n" << text;
    return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size() + 2));
}

TEST(ProcessMetrics, AreThoseOfThisProcess) {
    while (std::clock() < CLOCKS_PER_SEC / 20) {  // a few ticks, in which CPU time is counted
    }
    runtime::Metrics metrics;
    const auto text = metrics.prometheus_text(write_process);
    EXPECT_GT(value_of(text, "process_cpu_seconds_total"), 0);
    EXPECT_GE(value_of(text, "process_threads"), 1);
    EXPECT_GT(value_of(text, "process_resident_memory_bytes"), 1e6);
    EXPECT_GT(value_of(text, "process_virtual_memory_bytes"), 1e6);
    EXPECT_GE(value_of(text, "process_open_fds"), 3);
    EXPECT_GT(value_of(text, "process_max_fds"), value_of(text, "process_open_fds"));
    const double started = value_of(text, "process_start_time_seconds");
    const auto now = static_cast<double>(std::time(nullptr));
    EXPECT_LE(started, now + 2);
    EXPECT_GT(started, now - 3600);
}

TEST(ProcessMetrics, TrafficIsWrittenWithItsLabels) {
    http::Traffic traffic;
    traffic.opened();
    traffic.answered({"/v1/decisions", "POST", 200, 0.002, 10, 20});
    traffic.answered({"/v1/decisions", "POST", 503, 0.002, 10, 20});
    runtime::Metrics metrics;
    const auto text =
        metrics.prometheus_text([&](runtime::Samples& out) { write_traffic(traffic, out); });
    for (const char* line :
         {"rampart_http_requests_total{method=\"POST\",route=\"/v1/decisions\",status=\"200\"} 1",
          "rampart_http_requests_total{method=\"POST\",route=\"/v1/decisions\",status=\"503\"} 1",
          "rampart_http_request_bytes_total{method=\"POST\",route=\"/v1/decisions\"} 20",
          "rampart_http_response_bytes_total{method=\"POST\",route=\"/v1/decisions\"} 40",
          "rampart_http_request_duration_seconds_count{method=\"POST\",route=\"/v1/decisions\"} 2",
          "rampart_http_connections_open 1", "rampart_http_connections_refused_total 0"}) {
        EXPECT_NE(text.find(std::string(line) + "\n"), std::string::npos) << line << "\n" << text;
    }
}

}  // namespace
}  // namespace rampart::decision_service
