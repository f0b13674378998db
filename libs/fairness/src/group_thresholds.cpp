#include "rampart/fairness/group_thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/reasons.hpp"
#include "rampart/fairness/reasons.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/numeric/linear_program.hpp"
#include "rampart/numeric/reasons.hpp"
#include "rampart/numeric/roc_hull.hpp"

namespace rampart::fairness {
namespace {

constexpr double kNoWeight = 1e-12;      // below: rounding
constexpr double kMostViolation = 1e-7;  // what rounding may leave of it

using Hulls = std::vector<std::vector<numeric::RocVertex>>;  // by group

base::Status check(const dataset::Dataset& data, std::span<const double> scores,
                   const GroupThresholdParams& params) {
    RAMPART_RETURN_IF_ERROR(dataset::validate(data));
    if (scores.size() != data.rows())
        return base::make_error(Reason::kBadScores, "{} scores for {} rows", scores.size(),
                                data.rows());
    for (size_t i = 0; i < scores.size(); ++i)
        if (!std::isfinite(scores[i]))
            return base::make_error(Reason::kBadScores, "row {}: score {} is not finite", i,
                                    scores[i]);
    for (const double cost : {params.false_positive_cost, params.false_negative_cost})
        if (!std::isfinite(cost) || cost < 0)
            return base::make_error(Reason::kBadCost, "cost {} is not a finite number from 0 on",
                                    cost);
    if (params.false_positive_cost + params.false_negative_cost == 0)
        return base::make_error(Reason::kBadCost, "one kind of mistake has to cost something");
    return base::ok();
}

Hulls hulls_of(const dataset::Dataset& data, std::span<const double> scores,
               const RateSystem& system) {
    std::vector<std::vector<numeric::ScoredRow>> rows(system.groups());
    for (size_t i = 0; i < data.rows(); ++i) {
        const size_t group = system.cell_of_row()[i] % system.groups();
        rows[group].push_back({scores[i], static_cast<double>(data.weight_of(i)), data.label[i]});
    }
    Hulls hulls;
    for (auto& group : rows) hulls.push_back(numeric::roc_hull(group));
    return hulls;
}

/// Columns: each group's vertices, group after group; the slack by which all constraints are
/// relaxed; the centres.
class ThresholdProgram {
  public:
    ThresholdProgram(const RateSystem& system, const Hulls& hulls,
                     const GroupThresholdParams& params)
        : system_(system), hulls_(hulls) {
        add_mixtures(params);
        slack_ = program_.add({0, 0, 0});
        for (const auto& parity : system.parity()) {
            const double reach = parity.constraint.tolerance / 2;
            const auto centre = program_.add({0, 1, 0});
            for (const auto& rate : parity.rates) {
                numeric::LinearProgram::Row row{.terms = terms_of(rate)};
                row.terms.push_back({centre, -1});
                auto below = row;
                row.upper = reach - rate.constant;
                row.terms.push_back({slack_, -0.5});
                below.lower = -reach - rate.constant;
                below.terms.push_back({slack_, 0.5});
                program_.rows.push_back(std::move(row));
                program_.rows.push_back(std::move(below));
            }
        }
        for (const auto& [target, rate] : system.targets()) {
            numeric::LinearProgram::Row row{.upper = target.at_most - rate.constant,
                                            .terms = terms_of(rate)};
            row.terms.push_back({slack_, -1});
            program_.rows.push_back(std::move(row));
        }
    }

    base::Result<numeric::LinearSolution> solve() const { return numeric::solve(program_); }

    /// By how much every tolerance and target has to be raised for there to be a solution.
    base::Result<double> least_slack() const {
        auto relaxed = program_;
        for (auto& column : relaxed.columns) column.cost = 0;
        relaxed.columns[slack_] = {0, numeric::kNoBound, 1};
        RAMPART_TRY(const auto solution, numeric::solve(relaxed));
        if (solution.status != numeric::LinearStatus::kOptimal || !(solution.objective > 0))
            return base::make_error(numeric::Reason::kSimplexFailed,
                                    "constraints were called infeasible and then feasible");
        return solution.objective;
    }

  private:
    void add_mixtures(const GroupThresholdParams& params) {
        const size_t groups = hulls_.size();
        for (size_t g = 0; g < groups; ++g) {
            const double zeros = system_.cell_weight()[g] / system_.total_weight();
            const double ones = system_.cell_weight()[groups + g] / system_.total_weight();
            numeric::LinearProgram::Row sum{.lower = 1, .upper = 1};
            first_.push_back(static_cast<uint32_t>(program_.columns.size()));
            for (const auto& vertex : hulls_[g]) {
                const double cost = params.false_positive_cost * zeros * vertex.approved[0] +
                                    params.false_negative_cost * ones * (1 - vertex.approved[1]);
                sum.terms.push_back({program_.add({0, numeric::kNoBound, cost}), 1});
            }
            program_.rows.push_back(std::move(sum));
        }
    }

    /// The rate without its constant, in the weights of vertices.
    std::vector<numeric::LinearProgram::Term> terms_of(const LinearRate& rate) const {
        const size_t groups = hulls_.size();
        std::vector<double> of_cell(2 * groups);
        for (const auto& term : rate.terms) of_cell[term.cell] += term.coefficient;
        std::vector<numeric::LinearProgram::Term> terms;
        for (size_t g = 0; g < groups; ++g) {
            for (size_t v = 0; v < hulls_[g].size(); ++v) {
                const auto& approved = hulls_[g][v].approved;
                const double value = of_cell[g] * approved[0] + of_cell[groups + g] * approved[1];
                if (value != 0) terms.push_back({first_[g] + static_cast<uint32_t>(v), value});
            }
        }
        return terms;
    }

    const RateSystem& system_;
    const Hulls& hulls_;
    numeric::LinearProgram program_;
    std::vector<uint32_t> first_;  // column of each group's first vertex
    uint32_t slack_ = 0;
};

/// What the weights of a solution, group after group, amount to.
GroupThresholds thresholds_of(const RateSystem& system, const Hulls& hulls,
                              std::span<const double> weights, const GroupThresholdParams& params) {
    GroupThresholds out;
    const size_t groups = hulls.size();
    std::vector<double> approved(system.cells());
    for (size_t g = 0, at = 0; g < groups; at += hulls[g].size(), ++g) {
        const auto own = weights.subspan(at, hulls[g].size());
        double sum = 0;
        for (const double weight : own) sum += weight > kNoWeight ? weight : 0;
        auto& mixture = out.groups.emplace_back();
        for (size_t v = 0; v < own.size(); ++v) {
            if (own[v] <= kNoWeight) continue;
            mixture.push_back({hulls[g][v].threshold, own[v] / sum});
            for (const size_t y : {0u, 1u})
                approved[y * groups + g] += own[v] / sum * hulls[g][v].approved[y];
        }
        const double zeros = system.cell_weight()[g], ones = system.cell_weight()[groups + g];
        out.cost += (params.false_positive_cost * zeros * approved[g] +
                     params.false_negative_cost * ones * (1 - approved[groups + g])) /
                    system.total_weight();
    }
    out.values = system.values(approved);
    return out;
}

}  // namespace

base::Result<GroupThresholds> fit_group_thresholds(const dataset::Dataset& data,
                                                   std::span<const double> scores,
                                                   const GroupThresholdParams& params) {
    RAMPART_RETURN_IF_ERROR(check(data, scores, params));
    RAMPART_TRY(const auto system, RateSystem::create(data, params.constraints));
    const Hulls hulls = hulls_of(data, scores, system);
    const ThresholdProgram program(system, hulls, params);
    RAMPART_TRY(const auto solution, program.solve());
    if (solution.status != numeric::LinearStatus::kOptimal) {
        RAMPART_TRY(const double slack, program.least_slack());
        return base::make_error(
            base::Reason::kInfeasible,
            "no thresholds keep {} on these rows: every tolerance and target would have to be "
            "larger by {:.6f}",
            to_string(params.constraints), slack);
    }
    auto out = thresholds_of(system, hulls, solution.primal, params);
    if (out.values.violation > kMostViolation)
        return base::make_error(numeric::Reason::kSimplexFailed,
                                "the constraints are violated by {}", out.values.violation);
    return out;
}

std::vector<double> link_scores(const dataset::Dataset& data, const model::Ensemble& ensemble,
                                base::ThreadPool* pool) {
    std::vector<double> scores(data.rows());
    model::BatchEngine(ensemble).predict_raw(model::TableView::of(data), scores, pool);
    const model::LearnedLink link;
    for (double& score : scores) score = link.value(model::sigmoid(score));
    return scores;
}

namespace {

constexpr double kApproveNone = 2, kApproveAll = -2;  // thresholds that no score of a link is near

double ramp_threshold(double threshold) {
    return std::isfinite(threshold) ? threshold : threshold > 0 ? kApproveNone : kApproveAll;
}

base::Status check(const GroupThresholds& thresholds) {
    for (size_t g = 0; g < thresholds.groups.size(); ++g) {
        double sum = 0;
        for (const auto& [threshold, weight] : thresholds.groups[g]) {
            const bool inside = threshold >= -1 && threshold <= 1;
            if (std::isnan(threshold) || (std::isfinite(threshold) && !inside))
                return base::make_error(
                    Reason::kBadThresholds,
                    "group {}: threshold {} is no score of a link, which lie in [-1, 1]: fit on "
                    "link_scores",
                    g, threshold);
            if (!(weight > 0)) sum = std::numeric_limits<double>::quiet_NaN();
            sum += weight;
        }
        if (!(std::abs(sum - 1) <= 1e-9))
            return base::make_error(Reason::kBadThresholds,
                                    "group {}: weights above 0 that add up to 1 are wanted", g);
    }
    if (thresholds.groups.empty()) return base::make_error(Reason::kBadThresholds, "no groups");
    return base::ok();
}

/// Where some group goes over to another threshold, in [0, 1], by rising value; the last is 1.
std::vector<double> cuts_of(const GroupThresholds& thresholds) {
    std::vector<double> all{1};
    for (const auto& mixture : thresholds.groups) {
        double sum = 0;
        for (const auto& rule : mixture) all.push_back(std::min(sum += rule.weight, 1.0));
    }
    std::sort(all.begin(), all.end());
    std::vector<double> cuts;
    double last = 0;
    for (const double cut : all) {
        if (cut - last <= kNoWeight || 1 - cut <= kNoWeight) continue;
        cuts.push_back(last = cut);
    }
    cuts.push_back(1);
    return cuts;
}

/// Returns for each group the threshold in force where `at` of its weight lies before.
model::RampRule rule_at(const GroupThresholds& thresholds, double at) {
    model::RampRule rule;
    rule.thresholds.clear();
    for (const auto& mixture : thresholds.groups) {
        double sum = 0;
        double threshold = mixture.back().threshold;
        for (const auto& [candidate, weight] : mixture) {
            sum += weight;
            if (sum <= at) continue;
            threshold = candidate;
            break;
        }
        rule.thresholds.push_back(ramp_threshold(threshold));
    }
    rule.ties.assign(rule.thresholds.size(), 1);  // a score on the threshold reaches it
    return rule;
}

}  // namespace

base::Result<model::LearnedLink> threshold_link(const GroupThresholds& thresholds,
                                                model::Ensemble ensemble) {
    RAMPART_RETURN_IF_ERROR(check(thresholds));
    model::LearnedLink link;
    link.ensemble = std::move(ensemble);
    double from = 0;
    for (const double to : cuts_of(thresholds)) {
        auto rule = rule_at(thresholds, from / 2 + to / 2);
        if (from == 0) {
            link.ramp = std::move(rule);
            link.members.push_back({0, 0, to - from, {}});
        } else {
            link.members.push_back({0, 0, to - from, std::move(rule)});
        }
        from = to;
    }
    if (link.members.size() == 1) link.members.clear();
    return link;
}

}  // namespace rampart::fairness
