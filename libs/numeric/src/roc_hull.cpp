#include "rampart/numeric/roc_hull.hpp"

#include <algorithm>
#include <limits>

namespace rampart::numeric {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Above `low`, so that score >= it parts the two.
double between(double low, double high) {
    const double middle = low / 2 + high / 2;
    return middle > low && middle <= high ? middle : high;
}

/// One point for each threshold that decides otherwise than the one before.
std::vector<RocVertex> roc_points(std::span<const ScoredRow> rows) {
    std::vector<RocVertex> points{{kInfinity, {0, 0}}};
    double sum[2]{};
    for (size_t i = 0; i < rows.size(); ++i) {
        sum[rows[i].label] += rows[i].weight;
        const bool last = i + 1 == rows.size();
        if (!last && rows[i + 1].score == rows[i].score) continue;
        const double threshold = last ? -kInfinity : between(rows[i + 1].score, rows[i].score);
        points.push_back({threshold, {sum[0], sum[1]}});
    }
    for (auto& point : points)
        for (const int y : {0, 1})
            if (sum[y] > 0) point.approved[y] /= sum[y];
    return points;
}

/// > 0: c lies to the left of the way from a to b.
double turn(const RocVertex& a, const RocVertex& b, const RocVertex& c) {
    return (b.approved[0] - a.approved[0]) * (c.approved[1] - a.approved[1]) -
           (b.approved[1] - a.approved[1]) * (c.approved[0] - a.approved[0]);
}

/// One side of the hull of points that are sorted by both coordinates. side 1: the lower one.
std::vector<RocVertex> chain(const std::vector<RocVertex>& points, double side) {
    std::vector<RocVertex> out;
    for (const auto& point : points) {
        while (out.size() > 1 && side * turn(out[out.size() - 2], out.back(), point) <= 0)
            out.pop_back();
        out.push_back(point);
    }
    return out;
}

}  // namespace

std::vector<RocVertex> roc_hull(std::span<ScoredRow> rows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const ScoredRow& a, const ScoredRow& b) { return a.score > b.score; });
    const auto points = roc_points(rows);
    auto hull = chain(points, -1);
    const auto lower = chain(points, 1);
    hull.insert(hull.end(), lower.begin() + 1, lower.end() - 1);  // the ends are in both
    std::stable_sort(hull.begin(), hull.end(), [](const RocVertex& a, const RocVertex& b) {
        return a.threshold > b.threshold;
    });
    return hull;
}

}  // namespace rampart::numeric
