#include "rampart/certification/constraint_set.hpp"

#include <algorithm>
#include <set>

#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/certification/reasons.hpp"

namespace rampart::certification {
namespace {

using base::make_error;
using base::Result;

base::Status check_name(const std::string& name, const std::vector<std::string>& earlier) {
    const bool printable = std::all_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    });
    if (name.empty() || name.size() > base::limits::kMaxNameBytes || !printable ||
        !base::is_utf8(name)) {
        return make_error(Reason::kBadConstraintName,
                          "constraint number {}: its name must have 1 to {} bytes, all "
                          "printable",
                          earlier.size() + 1, base::limits::kMaxNameBytes);
    }
    if (std::find(earlier.begin(), earlier.end(), name) == earlier.end()) return base::ok();
    return make_error(Reason::kBadConstraintName, "two constraints are named '{}'", name);
}

std::string in_constraint(const std::string& name) { return fmt::format("constraint '{}'", name); }

}  // namespace

Result<ConstraintSet> ConstraintSet::compile(const GateConfig& config) {
    if (config.named_constraints.size() > kMaxConstraints) {
        return make_error(Reason::kTooManyConstraints, "{} constraints; at most {} are allowed",
                          config.named_constraints.size(), kMaxConstraints);
    }
    ConstraintSet out;
    for (const NamedConstraint& named : config.named_constraints) {
        RAMPART_RETURN_IF_ERROR(check_name(named.name, out.names_));
        auto program = constraints::compile(named.expression, {config.impact_lo, config.impact_hi});
        if (!program) return program.error().with_context(in_constraint(named.name));
        for (const constraints::Leaf& leaf : program->leaves) {
            const bool everybody = leaf.condition.kind == constraints::Condition::Kind::kAlways;
            if (everybody || out.condition_of(leaf)) continue;
            out.conditions_.push_back(leaf.condition);
            out.asked_by_.push_back(named.name);
        }
        out.names_.push_back(named.name);
        out.programs_.push_back(std::move(*program));
    }
    if (out.conditions_.size() > kMaxConditions) {
        return make_error(Reason::kTooManyConstraints,
                          "the constraints have {} different conditions; at most {} are "
                          "allowed",
                          out.conditions_.size(), kMaxConditions);
    }
    return out;
}

std::optional<size_t> ConstraintSet::condition_of(const constraints::Leaf& leaf) const {
    const auto found = std::find(conditions_.begin(), conditions_.end(), leaf.condition);
    if (found == conditions_.end()) return std::nullopt;
    return static_cast<size_t>(found - conditions_.begin());
}

std::vector<std::string> ConstraintSet::features() const {
    std::set<std::string> names;
    for (const constraints::Condition& condition : conditions_) {
        for (std::string& name : constraints::names_in(condition)) names.insert(std::move(name));
    }
    return {names.begin(), names.end()};
}

Result<std::vector<uint64_t>> ConstraintSet::conditions_met(
    const constraints::People& people) const {
    std::vector<uint64_t> out(people.records, 0);
    for (size_t k = 0; k < conditions_.size(); ++k) {
        const auto mask = constraints::members(conditions_[k], people);
        if (!mask) return mask.error().with_context(in_constraint(asked_by_[k]));
        for (size_t i = 0; i < out.size(); ++i) out[i] |= uint64_t{(*mask)[i]} << 2 * k;
    }
    return out;
}

constraints::Settings settings_of(const GateConfig& config, double delta) {
    constraints::Settings out;
    out.delta = delta;
    out.bound = config.bound;
    out.bet_cap = config.bet_cap;
    out.min_units = config.min_units;
    out.min_outcomes = config.min_outcomes;
    out.max_missing_rate = config.max_missing_rate;
    out.labels = config.labels_of;
    out.declined_impact = config.declined_impact;
    out.declines_overridden = config.declines_overridden;
    out.records_per_person = config.records_per_person;
    out.referrals = config.referrals;
    const bool approvals = config.trust_region == TrustRegion::kApprovals;
    out.max_change = std::min(1.0, approvals ? config.kappa : config.kappa / 2);
    return out;
}

}  // namespace rampart::certification
