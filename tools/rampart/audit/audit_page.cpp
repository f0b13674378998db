#include "audit/audit_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"

namespace rampart::cli {
namespace {

using report::Axis;
using report::Svg;

constexpr double kWidth = 860, kLeft = 150, kRight = 24, kTop = 24, kLine = 24;
constexpr double kCloudHeight = 320, kCloudLeft = 60, kCloudBottom = 44;

std::string decision(double approve) {
    if (approve >= 1) return "approved";
    if (approve <= 0) return "declined";
    return fmt::format("approved with chance {:.2f}", approve);
}

/// Draws one line for each pair: from the own score (full dot) to the other's (ring).
std::string dumbbells(const std::vector<AuditedPair>& pairs) {
    const double height = kTop + kLine * static_cast<double>(pairs.size()) + 30;
    const Axis x{0, 1, kLeft, kWidth - kRight};
    Svg svg(kWidth, height, "scores of pairs of people");
    for (const double score : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        svg.line("grid", x.at(score), kTop - 10, x.at(score), height - 24);
        svg.text(x.at(score), height - 8, report::Anchor::kMiddle, report::tick_text(score),
                 "tick");
    }
    for (size_t k = 0; k < pairs.size(); ++k) {
        const auto& pair = pairs[k];
        const double y = kTop + kLine * (static_cast<double>(k) + 0.3);
        svg.text(kLeft - 12, y + 4, report::Anchor::kEnd,
                 fmt::format("{}: {} as {}", k + 1, pair.person, pair.other), "tick");
        svg.open("", pair_text(pair))
            .line("link", x.at(pair.score), y, x.at(pair.other_score), y)
            .circle("dot", x.at(pair.score), y, 5)
            .circle("ring", x.at(pair.other_score), y, 5)
            .close();
    }
    return svg.markup();
}

/// Draws each pair as a dot: its fair distance, its difference of scores, and as its area what it
/// adds to the loss.
std::string cloud(const std::vector<AuditedPair>& pairs) {
    double farthest = 1e-9, largest = 1e-300;
    for (const auto& pair : pairs) {
        farthest = std::max(farthest, pair.distance);
        largest = std::max(largest, pair.excess);
    }
    const Axis x{0, 1.02 * farthest, kCloudLeft, kWidth - kRight};
    const Axis y{0, 1, kCloudHeight - kCloudBottom, kTop};
    Svg svg(kWidth, kCloudHeight, "difference of scores by fair distance");
    svg.frame(x, y, {.x_title = "fair distance", .y_title = "difference of scores"});
    for (const auto& pair : pairs)
        svg.circle("faint", x.at(pair.distance), y.at(std::abs(pair.score - pair.other_score)),
                   3 + 9 * std::sqrt(std::max(0.0, pair.excess / largest)), pair_text(pair));
    return svg.markup();
}

}  // namespace

std::string pair_text(const AuditedPair& pair) {
    std::string text = fmt::format(
        "row {} ({}; score {:.3f}, {}) against row {} (score {:.3f}, {}): fair distance {:.3g}, "
        "adds {:.3g} to the loss",
        pair.person, pair.label, pair.score, decision(pair.approve), pair.other, pair.other_score,
        decision(pair.other_approve), pair.distance, pair.excess);
    if (pair.differences.empty()) return text + "; they differ in nothing";
    text += "; they differ in ";
    for (size_t k = 0; k < pair.differences.size(); ++k)
        text += fmt::format("{}{} ({} / {})", k == 0 ? "" : ", ", pair.differences[k].feature,
                            pair.differences[k].own, pair.differences[k].other);
    if (pair.more > 0) text += fmt::format(" and {} more", pair.more);
    return text;
}

std::string audit_page(const std::string& title, const std::string& summary,
                       const report::Table& table, const std::vector<AuditedPair>& pairs) {
    report::Html page;
    page.title(title).paragraph(summary, "soft").facts(report::rows_of(table));
    page.heading("Pairs that are treated differently");
    if (pairs.empty()) {
        page.paragraph("None: people who are alike get the same answer.");
        return report::document(title, page);
    }
    page.paragraph(
        "Full dot: the score of a person. Ring: the score of a similar person, with which the "
        "first person's loss would be larger. The pairs that add most to the loss come first.",
        "soft");
    page.raw(dumbbells(pairs)).heading("How far apart they are");
    page.paragraph(
        "Difference of scores by fair distance. A dot's area is what the pair adds to the loss.",
        "soft");
    page.raw(cloud(pairs)).heading("In words");
    std::vector<std::string> items;
    for (const auto& pair : pairs) items.push_back(pair_text(pair));
    page.list(items);
    return report::document(title, page);
}

}  // namespace rampart::cli
