#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/file.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart::support {

/// What a node showed at /metrics, by series, and the type of each metric.
struct Scrape {
    explicit Scrape(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string first, second, name, type;
            words >> first >> second >> name >> type;
            if (second == "TYPE") types[name] = type;
            const size_t space = line.rfind(' ');
            if (line.empty() || line.starts_with('#') || space == std::string::npos) continue;
            values[line.substr(0, space)] = std::strtod(line.c_str() + space, nullptr);
        }
    }
    std::map<std::string, double> values;
    std::map<std::string, std::string> types;
};

/// The rules of ops/alerts, evaluated by promtool on what a node shows.
class Alerts {
  public:
    /// `folder` is for promtool's input; `now`: the node's time at the later scrape.
    explicit Alerts(std::filesystem::path folder) : folder_(std::move(folder)) {}
    static bool can_run() { return test_support::run_program("promtool --version").exit_code == 0; }

    /// How gauges go on after the later scrape: as they are, or at the rate of the two scrapes,
    /// which are then taken to be six hours apart.
    enum class Gauges { kStay, kMove };

    /// Whether the alert fires if what went on between the scrapes goes on: ten minutes of the
    /// earlier one, then two hours (kMove: seven) of the later, whose counters rise each minute by
    /// as much as they did.
    bool fires(const std::string& alert, const Scrape& before, const Scrape& after,
               base::TimePoint now, Gauges gauges = Gauges::kStay) const {
        const auto series = input(alert, before, after, now, gauges);
        const int minutes = gauges == Gauges::kMove ? 430 : 130;
        const auto firing = run(alert, series, minutes, "[{labels: '{}', value: 1}]");
        if (firing.exit_code == 0) return true;
        const auto silent = run(alert, series, minutes, "[]");
        EXPECT_EQ(silent.exit_code, 0) << alert << "\n" << firing.output << silent.output;
        return false;
    }

  private:
    static std::string rules() {
        return test_support::source_dir() + "/ops/alerts/rampart.rules.yml";
    }
    /// Names of the metrics in the alert's expression.
    static std::set<std::string> metrics_of(const std::string& alert) {
        const auto text = base::read_file(rules(), 1 << 20).value();
        const size_t at = text.find("- alert: " + alert + "\n");
        EXPECT_NE(at, std::string::npos) << alert;
        const size_t begin = text.find("expr:", at), end = text.find("labels:", begin);
        const std::string expression = text.substr(begin, end - begin);
        std::set<std::string> names;
        const std::regex name("(rampart|process)_[a-z0-9_]+");
        for (std::sregex_iterator it(expression.begin(), expression.end(), name), none; it != none;
             ++it)
            names.insert(it->str());
        EXPECT_FALSE(names.empty()) << expression;
        return names;
    }
    static std::string steady(double value) { return fmt::format("{:.9f}", value); }
    std::string input(const std::string& alert, const Scrape& before, const Scrape& after,
                      base::TimePoint now, Gauges gauges) const {
        const auto wanted = metrics_of(alert);
        const double shift = static_cast<double>(now.micros()) / 1e6;
        std::string text;
        for (const auto& [series, later] : after.values) {
            const size_t open = series.find('{');
            const std::string name = series.substr(0, open);
            if (!wanted.contains(name) || !std::isfinite(later)) continue;
            const auto known = before.values.find(series);
            double first = known == before.values.end() ? 0 : known->second, last = later;
            const auto type = after.types.find(name);
            const bool gauge = type != after.types.end() && type->second == "gauge";
            if (gauge && name.ends_with("_timestamp_seconds")) first -= shift, last -= shift;
            double step = gauge ? 0 : last - first;
            EXPECT_GE(gauge ? 0 : step, 0) << series;
            const std::string labels =
                (open == std::string::npos ? "{"
                                           : series.substr(open, series.size() - open - 1) + ",") +
                "instance=\"a\",job=\"rampart\"}";
            std::string values =
                fmt::format("{}x10 {}+{}x500", steady(first), steady(last), steady(step));
            if (gauge && gauges == Gauges::kMove) {
                values = fmt::format("{}{:+.9f}x510", steady(first), (last - first) / 360);
            }
            text +=
                fmt::format("      - series: '{}{}'\n        values: '{}'\n", name, labels, values);
        }
        EXPECT_FALSE(text.empty()) << alert << ": the node does not show what it asks for";
        return text;
    }
    test_support::Ran run(const std::string& alert, const std::string& series, int minutes,
                          const std::string& samples) const {
        const auto file = folder_ / (alert + ".test.yml");
        const auto text = fmt::format(
            "rule_files: [{}]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n"
            "    input_series:\n{}    promql_expr_test:\n"
            "      - expr: count(ALERTS{{alertname=\"{}\",alertstate=\"firing\"}}) > bool 0\n"
            "        eval_time: {}m\n        exp_samples: {}\n",
            rules(), series, alert, minutes, samples);
        EXPECT_TRUE(base::write_file_atomically(file, text));
        return test_support::run_program("promtool test rules " + file.string());
    }

    const std::filesystem::path folder_;
};

}  // namespace rampart::support
