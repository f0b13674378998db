#include "learn/postprocess_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frame/page.hpp"

namespace rampart::cli {
namespace {

constexpr std::string_view kStyle = R"(
.bar{fill:var(--soft);opacity:.45}.ramp{fill:none;stroke:var(--mark);stroke-width:2.5}
.grid{stroke:var(--line)}.tick{fill:var(--soft);font-size:11px}
)";
constexpr double kWidth = 860, kHeight = 190, kLeft = 46, kRight = 20, kTop = 14, kBottom = 34;

double across(double score) { return kLeft + (score + 1) / 2 * (kWidth - kLeft - kRight); }
double up(double share) { return kHeight - kBottom - share * (kHeight - kTop - kBottom); }

std::string frame() {
    std::string out;
    for (const double share : {0.0, 0.5, 1.0}) {
        out += fmt::format("<line class='grid' x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}'/>\n",
                           across(-1), across(1), up(share), up(share));
        out +=
            fmt::format("<text class='tick' x='{:.1f}' y='{:.1f}' text-anchor='end'>{:g}</text>\n",
                        kLeft - 6, up(share) + 4, share);
    }
    for (const double score : {-1.0, -0.5, 0.0, 0.5, 1.0})
        out += fmt::format(
            "<text class='tick' x='{:.1f}' y='{:.1f}' text-anchor='middle'>{:g}</text>\n",
            across(score), up(0) + 16, score);
    return out;
}

/// Bars as high as the fullest bin is; the ramp from 0 to 1.
std::string picture(const RampPicture& group) {
    std::string out = fmt::format(
        "<svg viewBox='0 0 {} {}' role='img' aria-label='scores and chance of approval of {}'>\n",
        kWidth, kHeight, escaped(group.group));
    out += frame();
    const double fullest = *std::max_element(group.share.begin(), group.share.end());
    const double width = (across(1) - across(-1)) / static_cast<double>(group.share.size());
    for (size_t bin = 0; bin < group.share.size(); ++bin) {
        const double high = fullest > 0 ? group.share[bin] / fullest : 0;
        out += fmt::format(
            "<rect class='bar' x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}'><title>{:.1f} "
            "% of the group</title></rect>\n",
            across(-1) + width * static_cast<double>(bin) + 0.5, up(high), width - 1,
            up(0) - up(high), 100 * group.share[bin]);
    }
    std::string points;
    for (const auto& [score, chance] : group.ramp)
        points += fmt::format("{:.1f},{:.1f} ", across(score), up(chance));
    out += fmt::format("<polyline class='ramp' points='{}'/>\n", points);
    return out + "</svg>\n";
}

std::string as_html(const std::vector<std::vector<std::string>>& table) {
    std::string out = "<table>";
    for (size_t line = 0; line < table.size(); ++line) {
        out += "<tr>";
        for (const auto& cell : table[line])
            out += fmt::format("<{0}>{1}</{0}>", line == 0 ? "th" : "td", escaped(cell));
        out += "</tr>\n";
    }
    return out + "</table>\n";
}

}  // namespace

std::vector<RampPicture> ramp_pictures(const std::vector<std::string>& groups,
                                       const std::vector<int32_t>& group,
                                       const std::vector<double>& scores,
                                       const std::vector<double>& before,
                                       const std::vector<double>& after) {
    std::vector<RampPicture> pictures(groups.size());
    std::vector<std::vector<double>> sums(groups.size(), std::vector<double>(kScoreBins));
    for (size_t k = 0; k < groups.size(); ++k) {
        pictures[k].group = groups[k];
        pictures[k].share.assign(kScoreBins, 0);
    }
    for (size_t i = 0; i < scores.size(); ++i) {
        const auto k = static_cast<size_t>(group[i]);
        const double place = (scores[i] + 1) / 2 * static_cast<double>(kScoreBins);
        const auto bin = std::min(kScoreBins - 1, static_cast<size_t>(place));
        auto& picture = pictures[k];
        ++picture.rows;
        picture.before += before[i];
        picture.after += after[i];
        picture.share[bin] += 1;
        sums[k][bin] += after[i];
    }
    for (size_t k = 0; k < groups.size(); ++k) {
        auto& picture = pictures[k];
        const auto rows = static_cast<double>(std::max<size_t>(1, picture.rows));
        picture.before /= rows;
        picture.after /= rows;
        for (size_t bin = 0; bin < kScoreBins; ++bin) {
            if (picture.share[bin] == 0) continue;
            const double middle = 2 * (static_cast<double>(bin) + 0.5) / kScoreBins - 1;
            picture.ramp.emplace_back(middle, sums[k][bin] / picture.share[bin]);
            picture.share[bin] /= rows;
        }
    }
    return pictures;
}

std::string postprocess_page(const std::string& title, const std::string& summary,
                             const std::vector<std::vector<std::string>>& table,
                             const std::vector<RampPicture>& pictures) {
    std::string out = fmt::format(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{}</title>"
        "<style>{}{}</style></head><body>\n<h1>{}</h1>\n<p class='soft'>{}</p>\n",
        escaped(title), kPageStyle, kStyle, escaped(title), escaped(summary));
    out += fmt::format("<div class='scroll'>{}</div>\n", as_html(table));
    for (const auto& group : pictures) {
        out += fmt::format("<h2>{}: {} rows, approved {:.1f} % → {:.1f} %</h2>\n",
                           escaped(group.group), group.rows, 100 * group.before, 100 * group.after);
        out += picture(group);
    }
    out +=
        "<p class='soft'>Bars: how many of the group's rows have which score (the fullest bin "
        "fills the height). Line: how likely these are approved, mean over the rows of a "
        "bin.</p>\n";
    return out + "</body></html>\n";
}

}  // namespace rampart::cli
