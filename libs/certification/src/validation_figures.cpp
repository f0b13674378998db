#include "rampart/certification/validation_figures.hpp"

#include <algorithm>
#include <cmath>

#include "evaluation.hpp"
#include "measure.hpp"
#include "mirror.hpp"
#include "part_figures.hpp"
#include "rampart/stats/betting_sample.hpp"
#include "selection_plan.hpp"
#include "sensitivity.hpp"

namespace rampart::certification {
namespace {

using base::Result;
using base::Status;

std::optional<double> finite(double x) {
    return std::isfinite(x) ? std::optional(x) : std::nullopt;
}

/// Plans the bets anew at another level, by the rule of the plan's own.
Status replan(RunPlan& plan, double delta) {
    plan.delta = delta;
    for (GroupPlan& group : plan.groups) {
        RAMPART_TRY(group.bets, plan_group_bets(plan, group));
    }
    return base::ok();
}

Result<std::vector<EffectInterval>> effect_intervals(const RunPlan& plan, RunPlan upper,
                                                     const VaultSource& feedback, double delta) {
    RunPlan lower = plan;
    RAMPART_RETURN_IF_ERROR(replan(lower, delta));
    RAMPART_TRY(const SealedResult least, evaluate_groups(lower, feedback));
    RAMPART_RETURN_IF_ERROR(replan(upper, delta));
    RAMPART_TRY(const SealedResult most, evaluate_groups(upper, MirroredVault(feedback)));
    std::vector<EffectInterval> out;
    for (size_t g = 0; g < plan.groups.size(); ++g) {
        out.push_back({plan.groups[g].name, finite(least.groups[g].bound.lower_betting),
                       finite(-most.groups[g].bound.lower_betting),
                       smallest_seen(plan, plan.groups[g], 0.8)});
    }
    return out;
}

/// Rates of approval of one group, from one record of it at a time in the order of the vault.
class GroupRates {
  public:
    GroupRates(const RunPlan& run, const GroupPlan& group, double delta)
        : group_(&group), delta_(delta) {
        // bets must not depend on the rates; probabilities spread evenly have this variance
        const auto bets = stats::plan_bets({group.units + group.erased, 1.0 / 12}, kRange.lo, delta,
                                           {.cap = run.config.bet_cap});
        for (auto* side : {&candidate_, &reference_}) {
            side->above.emplace(kRange, bets.value_or(stats::Bets{}));
            side->below = side->above;
        }
    }

    void add(const VaultRecord& r) {
        if (unit_ != r.unit) close_unit();
        unit_ = r.unit;
        ++of_unit_;
        candidate_.of_unit += r.candidate;
        reference_.of_unit += r.reference;
    }

    GroupApproval finish() {
        close_unit();
        return {group_->name, finish(candidate_), finish(reference_)};
    }

  private:
    static constexpr stats::Range kRange{-0.5, 0.5};  // rate - 1/2: bets need values below 0

    struct Side {
        std::optional<stats::BettingSample> above, below;
        double of_unit = 0;
        stats::Sum sum{};
    };

    void close_unit() {
        if (!unit_) return;
        for (auto* side : {&candidate_, &reference_}) {
            const double rate = std::clamp(side->of_unit / static_cast<double>(of_unit_), 0.0, 1.0);
            side->sum.add(rate);
            side->above->add(rate - 0.5);
            side->below->add(0.5 - rate);
            side->of_unit = 0;
        }
        of_unit_ = 0;
    }

    ApprovalRate finish(Side& side) const {
        for (size_t i = 0; i < group_->erased; ++i) {
            side.above->add(kRange.lo);
            side.below->add(kRange.lo);
        }
        const auto end = [&](const stats::BettingSample& s) {
            return std::clamp(0.5 + s.lower_bound(delta_), 0.0, 1.0);
        };
        // where all are erased nothing is known
        return {
            .rate = group_->units > 0 ? side.sum.value() / static_cast<double>(group_->units) : 0,
            .lower = end(*side.above),
            .upper = 1 - end(*side.below)};
    }

    const GroupPlan* group_;
    double delta_;
    Side candidate_, reference_;
    std::optional<Pseudonym> unit_;
    size_t of_unit_ = 0;
};

/// Compares each group with the one of its attribute that has the highest rate.
void add_ratios(std::vector<GroupApproval>& groups, ApprovalRate GroupApproval::*policy) {
    for (GroupApproval& group : groups) {
        const std::string attribute = attribute_of(group.name);
        const GroupApproval* highest = nullptr;
        size_t values = 0;
        for (const GroupApproval& other : groups) {
            if (attribute_of(other.name) != attribute) continue;
            ++values;
            if (highest == nullptr || (other.*policy).rate > (highest->*policy).rate)
                highest = &other;
        }
        if (values < 2) continue;
        ApprovalRate& own = group.*policy;
        const ApprovalRate& best = highest->*policy;
        own.highest = highest->name;
        const auto ratio = [](double x, double y) {
            return y > 0 ? std::optional(x / y) : std::nullopt;
        };
        const bool itself = highest == &group;
        own.ratio = ratio(own.rate, best.rate);
        own.ratio_lower = itself ? own.ratio : ratio(own.lower, best.upper);
        own.ratio_upper = itself ? own.ratio : ratio(own.upper, best.lower);
    }
}

Result<std::vector<GroupApproval>> approvals(const RunPlan& plan, const VaultSource& feedback,
                                             double delta) {
    std::vector<GroupRates> rates;
    std::vector<uint32_t> places;
    for (const GroupPlan& group : plan.groups) {
        if (group.against == Against::kAnchor) continue;
        rates.emplace_back(plan, group, delta);
        places.push_back(group.index);
    }
    RAMPART_RETURN_IF_ERROR(feedback.read([&](std::span<const VaultRecord> block) {
        for (const VaultRecord& record : block) {
            for (size_t g = 0; g < rates.size(); ++g) {
                if ((record.groups >> places[g] & 1) != 0) rates[g].add(record);
            }
        }
        return base::ok();
    }));
    std::vector<GroupApproval> out;
    for (GroupRates& group : rates) out.push_back(group.finish());
    add_ratios(out, &GroupApproval::candidate);
    add_ratios(out, &GroupApproval::reference);
    return out;
}

Status count_ungrouped(const VaultSource& feedback, ValidationFigures& out) {
    std::optional<Pseudonym> last;
    return feedback.read([&](std::span<const VaultRecord> block) {
        for (const VaultRecord& record : block) {
            if (record.groups != 0) continue;
            ++out.ungrouped_records;
            out.ungrouped_persons += last != record.unit;
            last = record.unit;
        }
        return base::ok();
    });
}

}  // namespace

std::string attribute_of(std::string_view group) {
    std::string out;
    while (!group.empty()) {
        const size_t end = std::min(group.find(','), group.size());
        const std::string_view part = group.substr(0, end);
        if (const size_t sign = part.find('='); sign != std::string_view::npos) {
            if (!out.empty()) out += ',';
            out += part.substr(0, sign);
        }
        group.remove_prefix(std::min(end + 1, group.size()));
    }
    return out;
}

Result<ValidationFigures> validation_figures(const RunPlan& plan, const VaultSource& feedback,
                                             Verdict verdict) {
    ValidationFigures out;
    const auto groups = static_cast<double>(plan.groups.size());
    const auto against_reference = static_cast<double>(
        std::count_if(plan.groups.begin(), plan.groups.end(),
                      [](const GroupPlan& g) { return g.against == Against::kReference; }));
    out.effect_delta = plan.config.delta_epoch / (2 * groups);
    out.rate_delta = plan.config.delta_epoch / (4 * against_reference);
    RAMPART_TRY(const RunPlan opposite, mirrored(plan, feedback));
    RAMPART_TRY(out.effects, effect_intervals(plan, opposite, feedback, out.effect_delta));
    RAMPART_TRY(out.approvals, approvals(plan, feedback, out.rate_delta));
    RAMPART_TRY(out.sensitivity, sensitivity(plan, feedback, verdict == Verdict::kCertified));
    RAMPART_TRY(out.parts, part_effects(plan, opposite, feedback));
    RAMPART_RETURN_IF_ERROR(count_ungrouped(feedback, out));
    return out;
}

}  // namespace rampart::certification
