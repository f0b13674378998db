#include "sensitivity.hpp"

#include <algorithm>
#include <cmath>

#include "evaluation.hpp"
#include "measure.hpp"

namespace rampart::certification {
namespace {

using base::Result;

constexpr double kMostOdds = 10;  // largest factor that is tried
constexpr int kSteps = 8, kHalvings = 7;

/// Parts of a person's value that depend on what is varied, added up over the records.
struct Person {
    double value = 0;                     // as in the test
    double by_decline = 0;                // its change with the declared impact of a decline
    double gain_odds = 0, loss_odds = 0;  // terms that an odds factor divides and multiplies

    double at_decline(double change) const { return value + by_decline * change; }
    double at_odds(double factor) const {
        return value - gain_odds - loss_odds + gain_odds / factor + loss_odds * factor;
    }
};

/// Returns the record as if the action drawn had been certain.
ope::Record certain(ope::Record record) {
    record.p = record.approved ? 1 : 0;
    record.p_refer = record.referral == ope::Referral::kNone ? 0 : 1;
    return record;
}

/// The persons of one group, from one record at a time in the order of the vault.
class GroupPersons {
  public:
    GroupPersons(const RunPlan& run, const GroupPlan& group)
        : run_(&run), group_(&group), model_(impact_model(run.config, group)) {
        low_ = high_ = model_;
        set_decline(low_, run.config.impact_lo);
        set_decline(high_, run.config.impact_hi);
    }

    void add(const VaultRecord& r) {
        if (persons_.empty() || unit_ != r.unit) persons_.emplace_back();
        unit_ = r.unit;
        const GateConfig& config = run_->config;
        ope::Record record = estimate_of(r, group_->against);
        if (r.has_impact) record.impact = r.impact;
        const double value = record_value(config, *group_, record, model_);
        Person& person = persons_.back();
        person.value += value;
        const bool least = counts_least(config, *group_, record, model_);
        const bool limited =
            config.records_per_person > 0 && value == group_->hi / config.records_per_person;
        const auto change = least ? ope::least_change : ope::impact_change;
        if (config.declined_impact && !limited) {
            person.by_decline += (change(record, high_) - change(record, low_)) /
                                 (config.impact_hi - config.impact_lo);
        }
        if (least || config.max_weight) return;
        const double term =
            ope::impact_change(record, model_) - ope::impact_change(certain(record), model_);
        (term > 0 ? person.gain_odds : person.loss_odds) += term;
    }

    /// Returns whether the group passes with the plan's bets and range, which grows where values
    /// leave it.
    template <class ValueOf>
    bool passes(const ValueOf& value_of) {
        stats::Range range{group_->lo, group_->hi};
        values_.assign(group_->erased, group_->lo);
        for (const Person& person : persons_) {
            const double value = value_of(person);
            range = {std::min(range.lo, value), std::max(range.hi, value)};
            values_.push_back(value);
        }
        return clears(*run_, stats::moments(values_),
                      stats::log_wealth(values_, range.lo, group_->bets, 0), range);
    }

  private:
    void set_decline(ope::ImpactModel& model, double impact) const {
        if (!model.declined) return;
        model.declined = impact;
        if (!model.declines_overridden) model.q_decline = impact;
    }

    const RunPlan* run_;
    const GroupPlan* group_;
    ope::ImpactModel model_, low_, high_;
    std::vector<Person> persons_;
    std::vector<double> values_;
    std::optional<Pseudonym> unit_;
};

template <class ValueOf>
bool all_pass(std::vector<GroupPersons>& groups, const ValueOf& value_of) {
    return std::all_of(groups.begin(), groups.end(),
                       [&](GroupPersons& group) { return group.passes(value_of); });
}

/// Returns the value nearest to `far` that is reached from `start` without a change of verdict.
template <class Same>
double reach(double start, double far, const Same& same) {
    const double step = (far - start) / kSteps;
    double kept = start;
    for (int i = 1; i <= kSteps; ++i) {
        double next = i == kSteps ? far : start + i * step;
        if (same(next)) {
            kept = next;
            continue;
        }
        for (int k = 0; k < kHalvings; ++k) {
            const double middle = (kept + next) / 2;
            (same(middle) ? kept : next) = middle;
        }
        return kept;
    }
    return far;
}

/// Returns the largest factor by which all odds may be wrong.
double largest_odds_factor(std::vector<GroupPersons>& groups) {
    const auto pass = [&](double factor) {
        return all_pass(groups, [&](const Person& p) { return p.at_odds(factor); });
    };
    if (pass(kMostOdds)) return kMostOdds;
    double passing = 1, failing = kMostOdds;
    for (int i = 0; i < 10; ++i) {
        const double middle = std::sqrt(passing * failing);
        (pass(middle) ? passing : failing) = middle;
    }
    return passing;
}

}  // namespace

Result<Sensitivity> sensitivity(const RunPlan& plan, const VaultSource& feedback, bool certified) {
    const GateConfig& config = plan.config;
    Sensitivity out;
    const bool missing = std::any_of(plan.groups.begin(), plan.groups.end(),
                                     [](const GroupPlan& g) { return g.missing > 0; });
    // the worst of the whole range passed
    if (certified && missing && !config.missing_gamma)
        out.tipping_gamma = config.impact_hi - config.impact_lo;
    const bool odds = certified && !config.max_weight;
    if (!odds && !config.declined_impact) return out;
    std::vector<GroupPersons> groups;
    for (const GroupPlan& group : plan.groups) groups.emplace_back(plan, group);
    RAMPART_RETURN_IF_ERROR(feedback.read([&](std::span<const VaultRecord> block) {
        for (const VaultRecord& record : block) {
            for (size_t g = 0; g < groups.size(); ++g) {
                if ((record.groups >> plan.groups[g].index & 1) != 0) groups[g].add(record);
            }
        }
        return base::ok();
    }));
    if (odds) out.odds_factor = largest_odds_factor(groups);
    if (!config.declined_impact) return out;
    const double declared = *config.declined_impact;
    const auto pass = [&](double impact) {
        return all_pass(groups, [&](const Person& p) { return p.at_decline(impact - declared); });
    };
    const bool now = pass(declared);
    const auto same = [&](double impact) { return pass(impact) == now; };
    out.declined_from = reach(declared, config.impact_lo, same);
    out.declined_to = reach(declared, config.impact_hi, same);
    return out;
}

}  // namespace rampart::certification
