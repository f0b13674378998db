#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/file.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart::support {

/// What a node showed at /metrics, by series, and the type of each metric; with what Prometheus
/// adds, "up".
struct Scrape {
    /// `when`: the node's time then, where times are among its figures.
    explicit Scrape(const std::string& text, base::TimePoint when = {}) : at(when) {
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
        values["up"] = 1;
        types["up"] = "gauge";
    }
    /// Returns a scrape that the node did not answer.
    static Scrape unanswered() {
        Scrape none("");
        none.values["up"] = 0;
        return none;
    }

    base::TimePoint at;
    std::map<std::string, double> values;
    std::map<std::string, std::string> types;
};

/// The rules of ops/alerts, evaluated by promtool on what a node shows.
class Alerts {
  public:
    /// `folder` is for promtool's input.
    explicit Alerts(std::filesystem::path folder) : folder_(std::move(folder)) {}
    static bool can_run() { return test_support::run_program("promtool --version").exit_code == 0; }

    /// How gauges go on after the later scrape: as they are, or at the rate of the two scrapes,
    /// which are then taken to be six hours apart.
    enum class Gauges { kStay, kMove };

    /// Whether the alert fires if what went on between the scrapes goes on: ten minutes of the
    /// earlier one, then two hours (kMove: seven) of the later, whose counters rise each minute by
    /// as much as they did.
    bool fires(const std::string& alert, const Scrape& before, const Scrape& after,
               Gauges gauges = Gauges::kStay) const {
        std::string input;
        for (const auto& series : series_for(alert, {before, after})) {
            const auto last = value(after, series);
            if (!last) continue;
            const bool gauge = is_gauge(after, series);
            // a counter that is not there yet begins at 0
            const auto first = gauge ? value(before, series) : value(before, series).value_or(0);
            const double step = gauge ? 0 : *last - *first;
            EXPECT_GE(step, 0) << series;
            auto values = fmt::format("{} {}+{}x500", held(first), text(*last), text(step));
            if (gauge && first && gauges == Gauges::kMove)
                values = fmt::format("{}{:+.9f}x510", text(*first), (*last - *first) / 360);
            input += line(series, values);
        }
        return asked(alert, input, gauges == Gauges::kMove ? 430 : 130);
    }

    /// Whether the alert fires at the end of the scrapes, each of which stays for ten minutes.
    bool fires(const std::string& alert, const std::vector<Scrape>& scrapes) const {
        std::string input;
        for (const auto& series : series_for(alert, scrapes)) {
            std::string values;
            for (const auto& one : scrapes)
                values += fmt::format("{}{}", values.empty() ? "" : " ", held(value(one, series)));
            input += line(series, values);
        }
        return asked(alert, input, static_cast<int>(10 * scrapes.size()) - 1);
    }

  private:
    static std::string rules() {
        return test_support::source_dir() + "/ops/alerts/rampart.rules.yml";
    }
    static std::string name_of(const std::string& series) {
        return series.substr(0, series.find('{'));
    }
    static bool is_gauge(const Scrape& scrape, const std::string& series) {
        const auto type = scrape.types.find(name_of(series));
        return type != scrape.types.end() && type->second == "gauge";
    }
    /// Returns the names of the metrics in the alert's expression.
    static std::set<std::string> metrics_of(const std::string& alert) {
        const auto text = base::read_file(rules(), 1 << 20).value();
        const size_t at = text.find("- alert: " + alert + "\n");
        EXPECT_NE(at, std::string::npos) << alert;
        const size_t begin = text.find("expr:", at), end = text.find("labels:", begin);
        const std::string expression = text.substr(begin, end - begin);
        std::set<std::string> names;
        const std::regex name("(rampart|process)_[a-z0-9_]+|\\bup\\b");
        for (std::sregex_iterator it(expression.begin(), expression.end(), name), none; it != none;
             ++it)
            names.insert(it->str());
        EXPECT_FALSE(names.empty()) << expression;
        return names;
    }
    /// Returns the series of the scrapes that the alert asks for.
    static std::set<std::string> series_for(const std::string& alert,
                                            const std::vector<Scrape>& scrapes) {
        const auto wanted = metrics_of(alert);
        std::set<std::string> found;
        for (const auto& scrape : scrapes)
            for (const auto& [series, value] : scrape.values)
                if (wanted.contains(name_of(series))) found.insert(series);
        return found;
    }
    /// Returns the value of a series; times are counted from that of the scrape. nullopt: there is
    /// none, or no finite one.
    static std::optional<double> value(const Scrape& scrape, const std::string& series) {
        const auto found = scrape.values.find(series);
        if (found == scrape.values.end() || !std::isfinite(found->second)) return std::nullopt;
        const bool is_time = name_of(series).ends_with("_timestamp_seconds");
        return found->second - (is_time ? static_cast<double>(scrape.at.micros()) / 1e6 : 0);
    }
    static std::string text(double value) { return fmt::format("{:.9f}", value); }
    /// Returns ten minutes of a value, as promtool reads it.
    static std::string held(std::optional<double> value) {
        return value ? text(*value) + "x9" : "_x10";
    }
    static std::string line(const std::string& series, const std::string& values) {
        const size_t open = series.find('{');
        const std::string labels =
            open == std::string::npos ? "{" : series.substr(open, series.size() - open - 1) + ",";
        return fmt::format(
            "      - series: '{}{}instance=\"a\",job=\"rampart\"}}'\n        values: '{}'\n",
            name_of(series), labels, values);
    }
    /// Whether it fires at the minute; without any series of its metrics, no.
    bool asked(const std::string& alert, const std::string& input, int minute) const {
        if (input.empty()) return false;
        const auto firing = run(alert, input, minute, "[{labels: '{}', value: 1}]");
        if (firing.exit_code == 0) return true;
        const auto silent = run(alert, input, minute, "[]");
        EXPECT_EQ(silent.exit_code, 0) << alert << "\n" << firing.output << silent.output;
        return false;
    }
    test_support::Ran run(const std::string& alert, const std::string& series, int minute,
                          const std::string& samples) const {
        const auto file = folder_ / (alert + ".test.yml");
        const auto text = fmt::format(
            "rule_files: [{}]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n"
            "    input_series:\n{}    promql_expr_test:\n"
            "      - expr: count(ALERTS{{alertname=\"{}\",alertstate=\"firing\"}}) > bool 0\n"
            "        eval_time: {}m\n        exp_samples: {}\n",
            rules(), series, alert, minute, samples);
        EXPECT_TRUE(base::write_file_atomically(file, text));
        return test_support::run_program("promtool test rules " + file.string());
    }

    const std::filesystem::path folder_;
};

}  // namespace rampart::support
