#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "learn/postprocess_fit.hpp"
#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"

namespace rampart::cli {
namespace {

constexpr double kWidth = 860, kHeight = 190, kLeft = 46, kRight = 20, kTop = 14, kBottom = 34;

/// Draws bars as high as the fullest bin is, and the ramp from 0 to 1.
std::string picture(const RampPicture& group) {
    const report::Axis x{-1, 1, kLeft, kWidth - kRight}, y{0, 1, kHeight - kBottom, kTop};
    report::Svg svg(kWidth, kHeight,
                    fmt::format("scores and chance of approval of {}", group.group));
    svg.frame(x, y, {.x_ticks = 4, .y_ticks = 2, .x_lines = false});
    const double fullest = *std::max_element(group.share.begin(), group.share.end());
    const double width = (x.end - x.start) / static_cast<double>(group.share.size());
    for (size_t bin = 0; bin < group.share.size(); ++bin) {
        const double top = y.at(fullest > 0 ? group.share[bin] / fullest : 0);
        svg.rectangle("faint c8", x.start + width * static_cast<double>(bin) + 0.5, top, width - 1,
                      y.start - top, fmt::format("{:.1f} % of the group", 100 * group.share[bin]));
    }
    report::Points ramp;
    for (const auto& [score, chance] : group.ramp) ramp.emplace_back(x.at(score), y.at(chance));
    svg.curve("curve", ramp);
    return svg.markup();
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
                             const report::Table& table, const std::vector<RampPicture>& pictures) {
    report::Html page;
    page.title(title).paragraph(summary, "soft");
    auto rows = report::rows_of(table);
    const auto head = rows.front();
    rows.erase(rows.begin());
    page.table(head, rows);
    for (const auto& group : pictures) {
        page.heading(fmt::format("{}: {} rows, approved {:.1f} % → {:.1f} %", group.group,
                                 group.rows, 100 * group.before, 100 * group.after));
        page.raw(picture(group));
    }
    page.paragraph(
        "Bars: the share of the group's rows in each range of scores (the fullest bin fills the "
        "height). Line: the chance of approval, the mean over the rows of a bin.",
        "soft");
    return report::document(title, page);
}

}  // namespace rampart::cli
