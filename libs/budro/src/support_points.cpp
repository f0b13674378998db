#include "support_points.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "rampart/base/random.hpp"

namespace rampart::budro {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// Adding 0 makes one zero of both.
uint64_t hash_of(std::span<const double> point) {
    uint64_t hash = 0x6275647265ULL;
    for (const double x : point) hash = base::mix64(hash ^ std::bit_cast<uint64_t>(x + 0.0));
    return hash;
}

/// by_row: the first row at each row's point.
std::vector<uint32_t> first_rows_of(const Points& points) {
    std::vector<std::pair<uint64_t, uint32_t>> order(points.rows);
    for (uint32_t i = 0; i < points.rows; ++i) order[i] = {hash_of(points.row(i)), i};
    std::sort(order.begin(), order.end());
    std::vector<uint32_t> first(points.rows);
    std::vector<uint32_t> distinct;  // points with one hash: more than one only if hashes collide
    for (size_t at = 0; at < order.size(); ++at) {
        if (at == 0 || order[at].first != order[at - 1].first) distinct.clear();
        const uint32_t row = order[at].second;
        const auto same = std::find_if(distinct.begin(), distinct.end(), [&](uint32_t other) {
            return std::equal(points.row(row).begin(), points.row(row).end(),
                              points.row(other).begin());
        });
        first[row] = same == distinct.end() ? row : *same;
        if (same == distinct.end()) distinct.push_back(row);
    }
    return first;
}

}  // namespace

SupportPoints find_support_points(const TransportProblem& problem, double total_weight) {
    const Points& points = *problem.points;
    const auto classes = static_cast<size_t>(problem.classes);
    SupportPoints out;
    out.dimensions = points.dimensions;
    out.of_row = first_rows_of(points);
    for (uint32_t i = 0; i < points.rows; ++i) {
        if (out.of_row[i] == i) {
            out.of_row[i] = static_cast<uint32_t>(out.first_rows.size());
            out.first_rows.push_back(i);
        } else {
            out.of_row[i] = out.of_row[out.of_row[i]];  // an earlier row: has its point already
        }
    }
    out.coordinates.reserve(out.count() * out.dimensions);
    for (const uint32_t row : out.first_rows)
        for (const double x : points.row(row)) out.coordinates.push_back(x + 0.0);

    std::vector<uint32_t> source_at(out.count() * classes, kNone);
    for (uint32_t i = 0; i < points.rows; ++i)
        source_at[out.of_row[i] * classes + problem.labels[i]] = 0;
    for (size_t k = 0; k < source_at.size(); ++k) {
        if (source_at[k] == kNone) continue;
        source_at[k] = static_cast<uint32_t>(out.sources.size());
        out.sources.push_back(
            {static_cast<uint32_t>(k / classes), static_cast<uint8_t>(k % classes), 0});
    }
    out.source_of_row.resize(points.rows);
    for (uint32_t i = 0; i < points.rows; ++i) {
        const uint32_t source = source_at[out.of_row[i] * classes + problem.labels[i]];
        out.source_of_row[i] = source;
        const double weight = problem.weights.empty() ? 1 : problem.weights[i];
        out.sources[source].weight += weight / total_weight;
    }
    return out;
}

TargetLosses losses_of_targets(const SupportPoints& points, std::span<const double> losses,
                               int classes) {
    const size_t n = points.of_row.size(), count = points.count();
    TargetLosses out{count, std::vector<double>(static_cast<size_t>(classes) * count),
                     std::vector<uint32_t>(static_cast<size_t>(classes) * count)};
    for (size_t c = 0; c < static_cast<size_t>(classes); ++c) {
        const auto loss = std::span(out.loss).subspan(c * count, count);
        const auto row = std::span(out.row).subspan(c * count, count);
        for (size_t p = 0; p < count; ++p) {
            row[p] = points.first_rows[p];
            loss[p] = losses[c * n + row[p]];
        }
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t p = points.of_row[i];
            if (losses[c * n + i] <= loss[p]) continue;
            loss[p] = losses[c * n + i];
            row[p] = i;
        }
    }
    return out;
}

}  // namespace rampart::budro
