#include "rampart/postprocessing/rule.hpp"

#include <cmath>

#include "rampart/base/check.hpp"

namespace rampart::postprocessing {
namespace {

using Given = model::GroupBlindAdjustment::Given;

/// Returns what the groups that a row may be of take off its score.
double pulled(const std::vector<std::vector<double>>& amounts, const GroupModel& groups,
              const Rows& rows, size_t row, double favourable) {
    double sum = 0;
    for (size_t a = 0; a < amounts.size(); ++a) {
        const double share = groups[a].given == Given::kNothing      ? 1
                             : groups[a].given == Given::kFavourable ? favourable
                                                                     : 1 - favourable;
        const double* posterior = rows.posteriors[a].data() + row * rows.groups();
        for (size_t k = 0; k < amounts[a].size(); ++k) sum += share * amounts[a][k] * posterior[k];
    }
    return sum;
}

}  // namespace

std::vector<double> Rule::approve(const Rows& rows, const GroupModel& groups) const {
    model::LearnedLink link;
    put_on(link, {});
    const bool aware = link.group_aware();
    RAMPART_CHECK(!strata || rows.stratum.size() == rows.size(), "{} strata of {} rows",
                  rows.stratum.size(), rows.size());
    std::vector<double> out;
    out.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
        if (aware && rows.group[i] < 0) {
            out.push_back(std::nan(""));
            continue;
        }
        const size_t group = rows.group[i] < 0 ? 0 : static_cast<size_t>(rows.group[i]);
        const size_t cell = strata ? rows.cell_of(i) : group;
        const double p = link.probability(rows.p[i], group);
        const double f = link.value(p) - pulled(amounts, groups, rows, i, p);
        double q = members.empty() ? ramp.apply(f, cell) : 0;
        for (const auto& member : members)
            q += member.weight * (member.ramp ? *member.ramp : ramp).apply(f, group);
        out.push_back(q);
    }
    return out;
}

void Rule::put_on(model::LearnedLink& link, const GroupModel& groups) const {
    link.score_slope = slope;
    link.score_intercept = intercept;
    link.calibrations = calibrations;
    link.ramp = ramp;
    link.members = members;
    link.strata = strata;
    link.adjustments = groups;
    for (size_t a = 0; a < groups.size(); ++a) link.adjustments[a].amounts = amounts[a];
}

}  // namespace rampart::postprocessing
