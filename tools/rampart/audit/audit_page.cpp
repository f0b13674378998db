#include "audit/audit_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frame/page.hpp"

namespace rampart::cli {
namespace {

constexpr std::string_view kStyle = R"(
.grid{stroke:var(--line)}.tick{fill:var(--soft);font-size:11px}
.link{stroke:var(--soft);stroke-width:2}.own{fill:var(--mark)}.other{fill:none;stroke:var(--bad)}
.other{stroke-width:2}.cloud{fill:var(--mark);opacity:.55}li{margin:.5rem 0}
)";
constexpr double kWidth = 860, kLeft = 150, kRight = 24, kTop = 24, kLine = 24;
constexpr double kCloudHeight = 300, kCloudLeft = 60, kCloudBottom = 44;

double across(double score) { return kLeft + score * (kWidth - kLeft - kRight); }

std::string decision(double approve) {
    if (approve >= 1) return "approved";
    if (approve <= 0) return "declined";
    return fmt::format("approved with chance {:.2f}", approve);
}

std::string tick(double x, double y, std::string_view anchor, const std::string& text) {
    return fmt::format("<text class='tick' x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n", x,
                       y, anchor, text);
}

/// One line a pair: from the own score (full dot) to the other's (ring).
std::string dumbbells(const std::vector<AuditedPair>& pairs) {
    const double height = kTop + kLine * static_cast<double>(pairs.size()) + 30;
    std::string out = fmt::format(
        "<svg viewBox='0 0 {} {:.0f}' role='img' aria-label='scores of pairs of people'>\n", kWidth,
        height);
    for (const double score : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        out += fmt::format(
            "<line class='grid' x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}'/>\n",
            across(score), kTop - 10, height - 24);
        out += tick(across(score), height - 8, "middle", fmt::format("{:g}", score));
    }
    for (size_t k = 0; k < pairs.size(); ++k) {
        const auto& pair = pairs[k];
        const double y = kTop + kLine * (static_cast<double>(k) + 0.3);
        out += tick(kLeft - 12, y + 4, "end",
                    fmt::format("{}: {} as {}", k + 1, pair.person, pair.other));
        out += fmt::format(
            "<g><title>{}</title><line class='link' x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' "
            "y2='{:.1f}'/><circle class='own' cx='{:.1f}' cy='{:.1f}' r='5'/><circle class='other' "
            "cx='{:.1f}' cy='{:.1f}' r='5'/></g>\n",
            escaped(pair_text(pair)), across(pair.score), across(pair.other_score), y, y,
            across(pair.score), y, across(pair.other_score), y);
    }
    return out + "</svg>\n";
}

/// Each pair a dot: how far apart, how differently scored; its area is what it adds to the loss.
std::string cloud(const std::vector<AuditedPair>& pairs) {
    double farthest = 1e-9, largest = 1e-300;
    for (const auto& pair : pairs) {
        farthest = std::max(farthest, pair.distance);
        largest = std::max(largest, pair.excess);
    }
    const auto x = [&](double d) {
        return kCloudLeft + d / farthest * (kWidth - kCloudLeft - kRight);
    };
    const auto y = [](double s) {
        return kCloudHeight - kCloudBottom - s * (kCloudHeight - kCloudBottom - kTop);
    };
    std::string out = fmt::format(
        "<svg viewBox='0 0 {} {}' role='img' aria-label='difference of scores by fair distance'>\n",
        kWidth, kCloudHeight);
    for (const double s : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        out += fmt::format("<line class='grid' x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}'/>\n",
                           x(0), x(farthest), y(s), y(s));
        out += tick(kCloudLeft - 8, y(s) + 4, "end", fmt::format("{:g}", s));
    }
    for (const double part : {0.0, 0.5, 1.0})
        out +=
            tick(x(part * farthest), y(0) + 16, "middle", fmt::format("{:.3g}", part * farthest));
    out += tick((x(0) + x(farthest)) / 2, kCloudHeight - 6, "middle", "fair distance");
    for (const auto& pair : pairs)
        out += fmt::format(
            "<circle class='cloud' cx='{:.1f}' cy='{:.1f}' r='{:.1f}'><title>{}</title></circle>\n",
            x(pair.distance), y(std::abs(pair.score - pair.other_score)),
            3 + 9 * std::sqrt(std::max(0.0, pair.excess / largest)), escaped(pair_text(pair)));
    return out + "</svg>\n";
}

std::string facts(const Table& table) {
    std::string out = "<table class='facts'>\n";
    for (const auto& line : table)
        out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(line[0]), escaped(line[1]));
    return out + "</table>\n";
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

std::string audit_page(const std::string& title, const std::string& summary, const Table& table,
                       const std::vector<AuditedPair>& pairs) {
    std::string out = fmt::format(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{}</title>"
        "<style>{}{}</style></head><body>\n<h1>{}</h1>\n<p class='soft'>{}</p>\n",
        escaped(title), kPageStyle, kStyle, escaped(title), escaped(summary));
    out += facts(table);
    out += "<h2>Who is treated differently from whom</h2>\n";
    if (pairs.empty())
        return out + "<p>Nobody: people who are alike are answered alike.</p>\n</body></html>\n";
    out +=
        "<p class='soft'>Full dot: the score of a person; ring: that of somebody alike, by "
        "which this person would fare worse. The pairs that add most to the loss come first.</p>\n";
    out += dumbbells(pairs);
    out +=
        "<h2>How far apart they are</h2>\n<p class='soft'>Difference of scores by fair "
        "distance; a dot's area is what the pair adds to the loss.</p>\n";
    out += cloud(pairs) + "<h2>In words</h2>\n<ol>\n";
    for (const auto& pair : pairs) out += fmt::format("<li>{}</li>\n", escaped(pair_text(pair)));
    return out + "</ol>\n</body></html>\n";
}

}  // namespace rampart::cli
