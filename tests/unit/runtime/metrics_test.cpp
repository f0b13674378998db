#include "rampart/runtime/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace rampart::runtime {
namespace {

TEST(Metrics, AreWrittenInPrometheusText) {
    Metrics metrics;
    metrics.counter("rampart_decisions_total", "Decisions.", {{"action", "approve"}}).add(3);
    metrics.counter("rampart_decisions_total", "Decisions.", {{"action", "decline"}}).add();
    metrics.gauge("rampart_ready", "1: ready.\nBackslash \\").set(0.5);
    auto& histogram = metrics.histogram("rampart_seconds", "Time.", {0.5, 1}, {{"what", "x"}});
    for (const double value : {0.5, 0.7, 3.0}) histogram.observe(value);
    EXPECT_EQ(metrics.prometheus_text(),
              "# HELP rampart_decisions_total Decisions.\n"
              "# TYPE rampart_decisions_total counter\n"
              "rampart_decisions_total{action=\"approve\"} 3\n"
              "rampart_decisions_total{action=\"decline\"} 1\n"
              "# HELP rampart_ready 1: ready.\\nBackslash \\\\\n"
              "# TYPE rampart_ready gauge\n"
              "rampart_ready 0.5\n"
              "# HELP rampart_seconds Time.\n"
              "# TYPE rampart_seconds histogram\n"
              "rampart_seconds_bucket{what=\"x\",le=\"0.5\"} 1\n"
              "rampart_seconds_bucket{what=\"x\",le=\"1\"} 2\n"
              "rampart_seconds_bucket{what=\"x\",le=\"+Inf\"} 3\n"
              "rampart_seconds_sum{what=\"x\"} 4.2\n"
              "rampart_seconds_count{what=\"x\"} 3\n");
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameMetricInWhateverOrder) {
    Metrics metrics;
    auto& one = metrics.counter("c_total", "C.", {{"a", "1"}, {"b", "2"}});
    EXPECT_EQ(&one, &metrics.counter("c_total", "C.", {{"b", "2"}, {"a", "1"}}));
    EXPECT_NE(&one, &metrics.counter("c_total", "C.", {{"a", "2"}, {"b", "2"}}));
}

TEST(Metrics, LabelValuesAreEscaped) {
    Metrics metrics;
    metrics.gauge("g", "G.", {{"a", "x\"\\\n"}});
    EXPECT_NE(metrics.prometheus_text().find("g{a=\"x\\\"\\\\\\n\"} 0\n"), std::string::npos);
}

TEST(Metrics, WithoutLabelsThereAreNoBraces) {
    Metrics metrics;
    metrics.histogram("h", "H.", {1});
    EXPECT_NE(metrics.prometheus_text().find("h_bucket{le=\"1\"} 0\n"), std::string::npos);
    EXPECT_NE(metrics.prometheus_text().find("\nh_count 0\n"), std::string::npos);
}

constexpr MetricInfo kHeld{"held", "gauge", "what", "What is held."};
constexpr MetricInfo kDone{"done_total", "counter", "", "What is done."};
constexpr MetricInfo kSeconds{"seconds", "histogram", "", "Time."};

TEST(Metrics, CollectorsAreAskedWhenTheTextIsMade) {
    Metrics metrics;
    int asked = 0;
    Histogram times({1});
    times.observe(0.5);
    metrics.collect([&](Samples& out) {
        out.add(kHeld, ++asked, {{"what", "a"}});
        out.add(kHeld, std::nan(""), {{"what", "b"}});
        out.add(kSeconds, times);
        metrics.counter(kDone).add();  // no lock is held
    });
    EXPECT_EQ(metrics.prometheus_text(),
              "# HELP done_total What is done.\n"
              "# TYPE done_total counter\n"
              "done_total 1\n"
              "# HELP held What is held.\n"
              "# TYPE held gauge\n"
              "held{what=\"a\"} 1\n"
              "held{what=\"b\"} NaN\n"
              "# HELP seconds Time.\n"
              "# TYPE seconds histogram\n"
              "seconds_bucket{le=\"1\"} 1\n"
              "seconds_bucket{le=\"+Inf\"} 1\n"
              "seconds_sum 0.5\n"
              "seconds_count 1\n");
    EXPECT_NE(metrics.prometheus_text().find("held{what=\"a\"} 2\n"), std::string::npos);
}

TEST(Metrics, WhatTheCallerAddsJoinsItsFamily) {
    Metrics metrics;
    metrics.gauge(kHeld, {{"what", "b"}}).set(2);
    const auto text = metrics.prometheus_text([](Samples& out) {
        out.add(kHeld, 1, {{"what", "a"}});
    });
    EXPECT_NE(text.find("# TYPE held gauge\nheld{what=\"a\"} 1\nheld{what=\"b\"} 2\n"),
              std::string::npos);
}

TEST(Metrics, NothingIsLostBetweenThreads) {
    Metrics metrics;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 10'000; ++i) {
                metrics.counter("c_total", "C.").add();
                metrics.histogram("h", "H.", {1}).observe(2);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(metrics.counter("c_total", "C.").value(), 40'000u);
    EXPECT_EQ(metrics.histogram("h", "H.", {1}).sum(), 80'000);
}

TEST(MetricsDeathTest, BadNamesAndClashesAreDefects) {
    Metrics metrics;
    metrics.counter("c_total", "C.");
    EXPECT_DEATH(metrics.gauge("c_total", "C."), "another type");
    EXPECT_DEATH(metrics.counter("c_total", "D."), "another type or help");
    EXPECT_DEATH(metrics.counter("1c", "C."), "metric name");
    EXPECT_DEATH(metrics.counter("c-d", "C."), "metric name");
    EXPECT_DEATH(metrics.counter("d", "D.", {{"le", "1"}}), "label name");
    EXPECT_DEATH(metrics.gauge(kDone), "is no gauge");
    EXPECT_DEATH(metrics.counter(kHeld), "is no counter");
    EXPECT_DEATH(metrics.histogram(kHeld, {1}), "is no histogram");
}

TEST(MetricsDeathTest, LabelSetsHaveALimit) {
    Metrics metrics;
    for (int i = 0; i < 1000; ++i) metrics.counter("c", "C.", {{"i", std::to_string(i)}});
    EXPECT_DEATH(metrics.counter("c", "C.", {{"i", "1000"}}), "too many label sets");
}

}  // namespace
}  // namespace rampart::runtime
