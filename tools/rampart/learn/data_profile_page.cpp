#include "learn/data_profile_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rampart/report/chart.hpp"
#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"

namespace rampart::cli {
namespace {

using data_profile::Feature;
using data_profile::Part;
using data_profile::Profile;
using report::Axis;
using report::Svg;

constexpr size_t kMostLines = 9;  // colours of a chart
constexpr double kWidth = 340;

std::string percent(double share) {
    return std::isnan(share) ? "-" : fmt::format("{:.1f}", 100 * share);
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string words_of(const ProfileWords& words, const Part& part) {
    return fmt::format("{}: {} rows, {} %; {} {}", part.name, part.rows, percent(part.share),
                       words.label, label_text(words, part.label));
}

Axis share_axis(const std::vector<Part>& bars, double start, double end) {
    double most = 0;
    for (const auto& bar : bars) most = std::max(most, bar.share);
    return {0, most > 0 ? most : 1, start, end};
}

/// Draws the distribution of a number upwards.
std::string number_drawing(const ProfileWords& words, const Feature& feature) {
    constexpr double kHeight = 150, kBottom = 24, kTop = 8;
    const auto& bars = feature.bars;
    const Axis y = share_axis(bars, kHeight - kBottom, kTop);
    const double step = kWidth / static_cast<double>(bars.size());
    Svg svg(kWidth, kHeight, feature.name + ": share of rows by value");
    for (size_t k = 0; k < bars.size(); ++k)
        svg.rectangle("bar", step * static_cast<double>(k) + 1, y.at(bars[k].share), step - 2,
                      y.start - y.at(bars[k].share), words_of(words, bars[k]));
    svg.line("zero", 0, y.start, kWidth, y.start);
    svg.text(0, kHeight - 8, report::Anchor::kStart, bars.front().name, "tick");
    if (bars.size() > 1)
        svg.text(kWidth, kHeight - 8, report::Anchor::kEnd, bars.back().name, "tick");
    return svg.markup();
}

/// Draws the most frequent categories, one below the other.
std::string category_drawing(const ProfileWords& words, const Feature& feature) {
    constexpr double kRow = 18, kNames = 130, kShares = 46;
    const auto& bars = feature.bars;
    const Axis x = share_axis(bars, kNames, kWidth - kShares);
    Svg svg(kWidth, kRow * static_cast<double>(bars.size()) + 6,
            feature.name + ": share of rows by category");
    for (size_t k = 0; k < bars.size(); ++k) {
        const double top = kRow * static_cast<double>(k) + 4;
        svg.text(kNames - 6, top + 10, report::Anchor::kEnd, report::shortened(bars[k].name, 15),
                 "tick");
        svg.rectangle("bar", kNames, top, std::max(x.at(bars[k].share) - kNames, 1.0), kRow - 5,
                      words_of(words, bars[k]));
        svg.text(x.at(bars[k].share) + 5, top + 10, report::Anchor::kStart,
                 percent(bars[k].share) + " %", "tick");
    }
    return svg.markup();
}

void add_drawings(report::Html& page, const ProfileWords& words, const Profile& profile) {
    page.heading("Distributions");
    page.paragraph(
        "Share of the rows. What a bar is of, and the labels there, is said where the "
        "pointer rests on it.",
        "soft");
    page.raw("<div class=\"multiples\">");
    for (const auto& feature : profile.features) {
        if (feature.bars.empty()) continue;
        const bool numeric = feature.kind == dataset::FeatureKind::kNumeric;
        page.figure(feature.name,
                    fmt::format("{} values, {} % missing", feature.distinct,
                                percent(feature.missing.share)),
                    numeric ? number_drawing(words, feature) : category_drawing(words, feature));
    }
    page.raw("</div>");
}

report::LineChart over_time(const Profile& profile, std::string title, std::string unit) {
    report::LineChart chart{std::move(title), std::move(unit), {}, {}, {}};
    for (const auto& period : profile.periods) chart.x.push_back(period.part.name);
    return chart;
}

void add_time(report::Html& page, const ProfileWords& words, const Profile& profile) {
    page.heading("Over time");
    auto label = over_time(profile, words.label, "");
    auto rows = over_time(profile, "rows", "");
    label.series.push_back({words.label, {}});
    rows.series.push_back({"rows", {}});
    for (const auto& period : profile.periods) {
        label.series[0].y.push_back(words.numeric ? period.part.label : 100 * period.part.label);
        rows.series[0].y.push_back(static_cast<double>(period.part.rows));
    }
    page.raw("<div class=\"charts\">").raw(report::line_chart(label)).raw(report::line_chart(rows));
    if (!profile.groups.empty() && profile.groups.size() <= kMostLines) {
        auto groups = over_time(profile, "Share of the rows, by group", "%");
        for (size_t g = 0; g < profile.groups.size(); ++g) {
            report::Series one{profile.groups[g].part.name, {}};
            for (const auto& period : profile.periods)
                one.y.push_back(100 * period.group_shares[g]);
            groups.series.push_back(std::move(one));
        }
        page.raw(report::line_chart(groups));
    }
    page.raw("</div>");
}

void add_shifts(report::Html& page, const Profile& profile) {
    page.subheading("How far each feature has moved");
    page.paragraph(
        fmt::format("Population stability index from {} to each later period, over ten bins of "
                    "equal weight or the categories, and one for what is missing. Red: above 0.25, "
                    "and more than three times what chance gives with so few rows.",
                    profile.reference == 1
                        ? profile.periods.front().part.name
                        : fmt::format("{} to {}", profile.periods.front().part.name,
                                      profile.periods[profile.reference - 1].part.name)),
        "soft");
    report::Row head{"feature"};
    for (size_t p = profile.reference; p < profile.periods.size(); ++p)
        head.emplace_back(profile.periods[p].part.name);
    std::vector<report::Row> rows;
    for (const auto& feature : profile.features) {
        report::Row row{feature.name};
        for (size_t p = profile.reference; p < profile.periods.size(); ++p) {
            const auto& one = feature.periods[p];
            row.emplace_back(std::isnan(one.shift) ? "-" : fmt::format("{:.2f}", one.shift),
                             one.changed() ? "bad" : "");
        }
        rows.push_back(std::move(row));
    }
    page.table(head, rows, "wide");
}

void add_missing(report::Html& page, const Profile& profile) {
    report::Row head{"missing, %", "all"};
    for (const auto& group : profile.groups) head.emplace_back(group.part.name);
    std::vector<report::Row> rows;
    for (const auto& feature : profile.features) {
        if (feature.missing.rows == 0) continue;
        report::Row row{feature.name, percent(feature.missing.share)};
        for (const double share : feature.missing_by_group) row.emplace_back(percent(share));
        rows.push_back(std::move(row));
    }
    page.heading("What is missing");
    if (rows.empty()) {
        page.paragraph("Nothing.");
    } else {
        page.table(head, rows, "wide");
    }
}

report::Row head_of(const report::Table& table) { return report::rows_of(table).front(); }

std::vector<report::Row> body_of(const report::Table& table) {
    auto rows = report::rows_of(table);
    rows.erase(rows.begin());
    return rows;
}

}  // namespace

std::string label_text(const ProfileWords& words, double label) {
    if (std::isnan(label)) return "-";
    return words.numeric ? number(label) : percent(label);
}

report::Table group_table(const ProfileWords& words, const Profile& profile) {
    report::Table table{{"group", "rows", "share %", words.label, "from", "to"}};
    const auto add = [&](const Part& part, const std::optional<stats::Interval>& interval) {
        table.push_back({part.name, std::to_string(part.rows), percent(part.share),
                         label_text(words, part.label), interval ? percent(interval->lo) : "-",
                         interval ? percent(interval->hi) : "-"});
    };
    add(profile.all, std::nullopt);
    for (const auto& group : profile.groups) add(group.part, group.interval);
    return table;
}

report::Table feature_table(const Profile& profile) {
    report::Table table{{"feature", "missing %", "values", "mean, or most frequent", "5 %",
                         "median", "95 %", "largest PSI"}};
    for (const auto& feature : profile.features) {
        const auto& numbers = feature.numbers;
        const auto at = feature.most_shifted();
        const std::string middle =
            numbers ? number(numbers->mean)
            : feature.bars.empty()
                ? "-"
                : fmt::format("{} ({} %)", report::shortened(feature.bars[0].name, 24),
                              percent(feature.bars[0].share));
        const auto quantile = [&](size_t k) {
            return numbers ? number(numbers->quantiles[k]) : "-";
        };
        table.push_back({feature.name, percent(feature.missing.share),
                         std::to_string(feature.distinct), middle, quantile(1), quantile(3),
                         quantile(5),
                         at ? fmt::format("{:.3f}", feature.periods[*at].shift) : "-"});
    }
    return table;
}

std::string data_profile_page(const ProfileWords& words, const Profile& profile) {
    report::Html page;
    page.title(words.title);
    page.paragraph(
        fmt::format("{} rows, {} features; {} {}", profile.all.rows, profile.features.size(),
                    words.label, label_text(words, profile.all.label)),
        "soft");
    page.heading("What to look at");
    auto list = data_profile::findings(profile);
    list.insert(list.end(), words.notes.begin(), words.notes.end());
    if (list.empty()) {
        page.paragraph("Nothing stands out.");
    } else {
        page.list(list);
    }
    if (!profile.groups.empty()) {
        const auto groups = group_table(words, profile);
        page.heading("Protected groups").table(head_of(groups), body_of(groups), "rates");
        page.paragraph("With intervals of 95 % (Wilson) for each group by itself.", "soft");
    }
    if (!profile.periods.empty()) {
        add_time(page, words, profile);
        add_shifts(page, profile);
    }
    add_missing(page, profile);
    const auto features = feature_table(profile);
    page.heading("Features").table(head_of(features), body_of(features), "wide");
    add_drawings(page, words, profile);
    return report::document(words.title, page);
}

}  // namespace rampart::cli
