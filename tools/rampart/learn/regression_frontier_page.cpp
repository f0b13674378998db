#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "frame/page.hpp"
#include "learn/regression_frontier.hpp"

namespace rampart::cli {
namespace {

constexpr std::string_view kHeader =
    "learner,number,epsilon,train_loss,train_disparity,test_loss,test_loss_lo,test_loss_hi,"
    "test_disparity,test_disparity_lo,test_disparity_hi,members,seconds";
constexpr size_t kColours = 6;
constexpr std::string_view kStyle = R"(
.l0{--c:#2563eb}.l1{--c:#059669}.l2{--c:#d97706}.l3{--c:#7c3aed}.l4{--c:#db2777}.l5{--c:#0f766e}
.way{fill:none;stroke:var(--c);stroke-width:2}.dot{fill:var(--c)}.bar{stroke:var(--c);opacity:.4}
.grid{stroke:var(--line)}.tick{fill:var(--soft);font-size:11px}.key{font-weight:600;fill:var(--c)}
)";

struct Axis {
    double from, to, start, end;
    double at(double value) const {
        return start + (std::clamp(value, from, to) - from) / (to - from) * (end - start);
    }
};

/// What holds all bands, a little wider.
Axis axis_of(const std::vector<RegressionPoint>& points, stats::Interval RegressionPoint::*band,
             double start, double end) {
    double lo = 1, hi = 0;
    for (const auto& point : points) {
        lo = std::min(lo, (point.*band).lo);
        hi = std::max(hi, (point.*band).hi);
    }
    const double room = std::max(0.05 * (hi - lo), 1e-4);
    return {std::max(0.0, lo - room), hi + room, start, end};
}

std::string frame(const Axis& x, const Axis& y) {
    std::string out;
    constexpr int kLines = 5;
    for (int i = 0; i <= kLines; ++i) {
        const double share = static_cast<double>(i) / kLines;
        const double across = x.from + share * (x.to - x.from);
        const double up = y.from + share * (y.to - y.from);
        out += fmt::format(
            "<line class='grid' x1='{0:.1f}' y1='{1:.1f}' x2='{0:.1f}' y2='{2:.1f}'/>\n"
            "<line class='grid' x1='{3:.1f}' y1='{5:.1f}' x2='{4:.1f}' y2='{5:.1f}'/>\n"
            "<text class='tick' x='{0:.1f}' y='{6:.1f}' text-anchor='middle'>{7:.3f}</text>\n"
            "<text class='tick' x='{8:.1f}' y='{9:.1f}' text-anchor='end'>{10:.4f}</text>\n",
            x.at(across), y.start, y.end, x.start, x.end, y.at(up), y.start + 16, across,
            x.start - 6, y.at(up) + 4, up);
    }
    return out + fmt::format(
                     "<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>disparity (test "
                     "rows)</text>\n<text x='{:.1f}' y='{:.1f}'>loss (test rows)</text>\n",
                     (x.start + x.end) / 2, y.start + 36, x.start, y.end - 8);
}

std::string marks(const std::string& learner, std::vector<RegressionPoint> points, size_t colour,
                  const Axis& x, const Axis& y) {
    std::sort(points.begin(), points.end(),
              [](const auto& a, const auto& b) { return a.disparity < b.disparity; });
    std::string out = fmt::format("<g class='l{}'>\n", colour % kColours), way;
    for (const auto& p : points) {
        way += fmt::format("{}{:.1f} {:.1f}", way.empty() ? "M" : "L", x.at(p.disparity),
                           y.at(p.loss));
        out += fmt::format(
            "<line class='bar' x1='{0:.1f}' y1='{1:.1f}' x2='{0:.1f}' y2='{2:.1f}'/>\n"
            "<line class='bar' x1='{3:.1f}' y1='{5:.1f}' x2='{4:.1f}' y2='{5:.1f}'/>\n"
            "<circle class='dot' cx='{0:.1f}' cy='{5:.1f}' r='4'><title>{6}, epsilon {7}: loss "
            "{8:.5f}, disparity {9:.4f}</title></circle>\n",
            x.at(p.disparity), y.at(p.loss_band.lo), y.at(p.loss_band.hi),
            x.at(p.disparity_band.lo), x.at(p.disparity_band.hi), y.at(p.loss), escaped(learner),
            p.epsilon, p.loss, p.disparity);
    }
    return out + fmt::format("<path class='way' d='{}'/>\n</g>\n", way);
}

std::string picture(const std::vector<RegressionPoint>& points) {
    const Axis x = axis_of(points, &RegressionPoint::disparity_band, 80, 780);
    const Axis y = axis_of(points, &RegressionPoint::loss_band, 380, 30);
    std::vector<std::string> learners;
    std::map<std::string, std::vector<RegressionPoint>> of;
    for (const auto& point : points) {
        if (!of.contains(point.learner)) learners.push_back(point.learner);
        of[point.learner].push_back(point);
    }
    std::string out = fmt::format(
        "<svg viewBox='0 0 800 {}' role='img' aria-label='Loss against "
        "disparity'>\n{}",
        440 + 18 * learners.size(), frame(x, y));
    for (size_t i = 0; i < learners.size(); ++i)
        out += marks(learners[i], of[learners[i]], i, x, y) +
               fmt::format("<text class='key l{}' x='80' y='{}'>{}</text>\n", i % kColours,
                           440 + 18 * i, escaped(learners[i]));
    return out + "</svg>\n";
}

std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    while (true) {
        const auto comma = line.find(',');
        cells.push_back(line.substr(0, comma));
        if (comma == std::string_view::npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

template <class T>
bool read(std::string_view cell, T& out) {
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), out);
    return error == std::errc{} && end == cell.data() + cell.size();
}

bool read_point(std::string_view line, RegressionPoint& p) {
    const auto c = cells_of(line);
    if (c.size() != 13 || !is_regression_learner(std::string(c[0]))) return false;
    p.learner = c[0];
    return read(c[1], p.number) && read(c[2], p.epsilon) && read(c[3], p.train_loss) &&
           read(c[4], p.train_disparity) && read(c[5], p.loss) && read(c[6], p.loss_band.lo) &&
           read(c[7], p.loss_band.hi) && read(c[8], p.disparity) &&
           read(c[9], p.disparity_band.lo) && read(c[10], p.disparity_band.hi) &&
           read(c[11], p.members) && read(c[12], p.seconds);
}

}  // namespace

std::string points_text(std::string_view job, const std::vector<RegressionPoint>& points) {
    std::string out = fmt::format("# {}\n{}\n", job, kHeader);
    for (const auto& p : points)
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{:.3f}\n", p.learner, p.number,
                           p.epsilon, p.train_loss, p.train_disparity, p.loss, p.loss_band.lo,
                           p.loss_band.hi, p.disparity, p.disparity_band.lo, p.disparity_band.hi,
                           p.members, p.seconds);
    return out;
}

base::Result<std::vector<RegressionPoint>> parse_points(std::string_view text,
                                                        std::string_view job) {
    std::vector<RegressionPoint> points;
    size_t number = 0;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        if (number == 1 && line != fmt::format("# {}", job))
            return base::invalid_argument("other_points",
                                          "the points there are of another run (other data, loss, "
                                          "seed or options): choose another --out, or delete them");
        if (number <= 2) continue;
        RegressionPoint point;
        if (!read_point(line, point))
            return base::data_loss("bad_points", "line {} of the points is damaged: delete it",
                                   number);
        points.push_back(std::move(point));
    }
    return points;
}

std::string regression_frontier_page(const std::string& data, const std::string& loss,
                                     const std::vector<RegressionPoint>& points) {
    std::string out = fmt::format(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Loss against disparity"
        "</title><style>{}{}</style></head><body>\n<h1>What parity costs</h1>\n"
        "<p class='soft'>{}; {} loss</p>\n{}",
        kPageStyle, kStyle, escaped(data), escaped(loss), picture(points));
    out +=
        "<p>Disparity: the largest difference, over all thresholds, between a group's share of "
        "scores at least that high and everybody's. Scores are rounded to the grid. Bars: 95 % "
        "over resamples of the test rows.</p>\n<div class='scroll'><table><tr><th>learner</th>"
        "<th>epsilon</th><th>loss</th><th>95 % band</th><th>disparity</th><th>95 % band</th>"
        "<th>on training rows</th><th>members</th><th>seconds</th></tr>\n";
    for (const auto& p : points)
        out += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{:.5f}</td><td>{:.5f} – {:.5f}</td><td>{:.4f}</td>"
            "<td>{:.4f} – {:.4f}</td><td>{:.4f}</td><td>{}</td><td>{:.1f}</td></tr>\n",
            escaped(p.learner), p.epsilon, p.loss, p.loss_band.lo, p.loss_band.hi, p.disparity,
            p.disparity_band.lo, p.disparity_band.hi, p.train_disparity, p.members, p.seconds);
    return out + "</table></div>\n</body></html>\n";
}

}  // namespace rampart::cli
