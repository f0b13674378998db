#include "rampart/model/policy.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "chain.hpp"
#include "group_blind_adjustments.hpp"
#include "mixture.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/model/reasons.hpp"
#include "state_text.hpp"

namespace rampart::model {
namespace {

using base::Result;
namespace limits = base::limits;

constexpr size_t kMaxPoints = 1000;  // points of a bootstrap
constexpr size_t kMaxProvenanceEntries = 1000;
constexpr double kWeightTolerance = 1e-9;              // tolerance of the sum of a mixture's
                                                       // weights
constexpr size_t kMaxProvenanceValueBytes = 16 << 20;  // large enough for a schema file

template <class... Args>
base::Error bad(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadPolicy, format, std::forward<Args>(args)...);
}

bool is_probability(double p) { return p >= 0 && p <= 1; }

base::Status check_bootstrap(const BootstrapLink& link, const dataset::FeatureSchema& schema) {
    const auto feature = schema.find(link.feature);
    if (!feature || schema.features()[*feature].kind != dataset::FeatureKind::kNumeric) {
        return bad("bootstrap feature '{}' is not a numeric feature of the schema", link.feature);
    }
    if (link.points.empty() || link.points.size() > kMaxPoints) {
        return bad("{} bootstrap points; allowed are 1 to {}", link.points.size(), kMaxPoints);
    }
    if (!is_probability(link.missing)) return bad("missing {} is outside [0, 1]", link.missing);
    for (size_t i = 0; i < link.points.size(); ++i) {
        const auto [x, p] = link.points[i];
        if (!std::isfinite(x) || !is_probability(p)) {
            return bad("bootstrap point {} is ({}, {}); expected a finite x and a probability", i,
                       x, p);
        }
        if (i > 0 && !(x > link.points[i - 1].first)) {
            return bad("bootstrap point {} has x = {}, not above the one before", i, x);
        }
    }
    return base::ok();
}

base::Status check_ramp(const RampRule& ramp) {
    if (!std::isfinite(ramp.gamma) || ramp.gamma < 0)
        return bad("gamma {} is not at least 0", ramp.gamma);
    if (!is_probability(ramp.offset)) return bad("offset {} is outside [0, 1]", ramp.offset);
    if (ramp.thresholds.empty() || ramp.thresholds.size() > limits::kMaxGroups) {
        return bad("{} thresholds; allowed are 1 to {}", ramp.thresholds.size(),
                   limits::kMaxGroups);
    }
    if (ramp.ties.size() != ramp.thresholds.size()) {
        return bad("{} ties for {} thresholds", ramp.ties.size(), ramp.thresholds.size());
    }
    if (!ramp.slopes.empty() && ramp.slopes.size() != ramp.thresholds.size()) {
        return bad("{} slopes for {} thresholds", ramp.slopes.size(), ramp.thresholds.size());
    }
    for (const double slope : ramp.slopes) {
        if (!std::isfinite(slope)) return bad("slope {} is not finite", slope);
    }
    for (size_t g = 0; g < ramp.ties.size(); ++g) {
        if (!std::isfinite(ramp.thresholds[g])) return bad("threshold {} is not finite", g);
        if (!is_probability(ramp.ties[g]))
            return bad("tie {} is {}, outside [0, 1]", g, ramp.ties[g]);
    }
    return base::ok();
}

base::Status check_member(const Member& member, const LearnedLink& link) {
    if (member.ensemble > link.additional_ensembles.size()) {
        return bad("ensemble {}; the link has 0 to {}", member.ensemble,
                   link.additional_ensembles.size());
    }
    const auto& ensemble =
        member.ensemble == 0 ? link.ensemble : link.additional_ensembles[member.ensemble - 1];
    if (member.trees > ensemble.trees.size()) {
        return bad("the first {} trees of ensemble {}, which has {}; 0 is all of them",
                   member.trees, member.ensemble, ensemble.trees.size());
    }
    if (!std::isfinite(member.weight) || member.weight <= 0) {
        return bad("weight {} is not above 0; omit members without weight", member.weight);
    }
    if (member.linear > link.linears.size()) {
        return bad("linear model {}; the link has 1 to {}, 0 is none", member.linear,
                   link.linears.size());
    }
    return member.ramp ? check_ramp(*member.ramp) : base::ok();
}

base::Status check_members(const LearnedLink& link, const dataset::FeatureSchema& schema) {
    if (link.members.empty()) {
        if (!link.additional_ensembles.empty())
            return bad("{} more ensembles and no members to use them",
                       link.additional_ensembles.size());
        if (!link.linears.empty())
            return bad("{} linear models and no members to use them", link.linears.size());
        return base::ok();
    }
    if (link.members.size() > limits::kMaxMembers) {
        return base::make_error(Reason::kTooManyMembers, "{} members; allowed are {}",
                                link.members.size(), limits::kMaxMembers);
    }
    if (link.trees() > limits::kMaxTrees) {
        return base::make_error(Reason::kTooManyTrees, "{} trees in all ensembles; allowed are {}",
                                link.trees(), limits::kMaxTrees);
    }
    double sum = 0;
    std::vector<bool> used(1 + link.additional_ensembles.size()), added(link.linears.size());
    for (size_t m = 0; m < link.members.size(); ++m) {
        const Member& member = link.members[m];
        if (const auto status = check_member(member, link); !status)
            return status.error().with_context(fmt::format("member {}", m));
        sum += member.weight;
        used[member.ensemble] = true;
        if (member.linear > 0) added[member.linear - 1] = true;
    }
    if (!(std::abs(sum - 1) <= kWeightTolerance)) {
        return bad("the members' weights add up to {}, not to 1", sum);
    }
    if (const auto unused = std::find(used.begin(), used.end(), false); unused != used.end()) {
        return bad("ensemble {} is used by no member", unused - used.begin());
    }
    if (const auto unused = std::find(added.begin(), added.end(), false); unused != added.end()) {
        return bad("linear model {} is used by no member", 1 + unused - added.begin());
    }
    for (size_t i = 0; i < link.linears.size(); ++i) {
        if (const auto status = validate(link.linears[i], schema); !status)
            return status.error().with_context(fmt::format("linear model {}", i + 1));
    }
    for (size_t i = 0; i < link.additional_ensembles.size(); ++i) {
        if (const auto status = validate(link.additional_ensembles[i], schema); !status)
            return status.error().with_context(fmt::format("ensemble {}", i + 1));
    }
    return base::ok();
}

base::Status check_pull(const GroupBlindAdjustment& pull, const dataset::FeatureSchema& schema) {
    const size_t groups = pull.amounts.size();
    if (groups < 2 || groups > limits::kMaxGroups) {
        return bad("amounts for {} groups; allowed are 2 to {}", groups, limits::kMaxGroups);
    }
    const size_t wanted = groups == 2 ? 1 : groups;
    if (pull.posteriors.size() != wanted) {
        return bad("{} ensembles for {} groups; expected {}", pull.posteriors.size(), groups,
                   wanted);
    }
    for (const double amount : pull.amounts) {
        if (!std::isfinite(amount)) return bad("amount {} is not finite", amount);
    }
    for (const Ensemble& posterior : pull.posteriors)
        RAMPART_RETURN_IF_ERROR(validate(posterior, schema));
    return base::ok();
}

base::Status check_calibrations_and_pulls(const LearnedLink& link,
                                          const dataset::FeatureSchema& schema) {
    if (!link.members.empty() && !(link.calibrations.empty() && link.adjustments.empty())) {
        return bad("a mixture with {} calibrations and {} pulls; it can have neither",
                   link.calibrations.size(), link.adjustments.size());
    }
    if (link.calibrations.size() > limits::kMaxGroups) {
        return bad("{} calibrations; allowed are {}", link.calibrations.size(), limits::kMaxGroups);
    }
    for (size_t i = 0; i < link.calibrations.size(); ++i) {
        if (const auto fault = fault_of(link.calibrations[i]))
            return bad("calibration {}: {}", i, *fault);
    }
    std::set<GroupBlindAdjustment::Given> seen;
    for (size_t i = 0; i < link.adjustments.size(); ++i) {
        if (const auto status = check_pull(link.adjustments[i], schema); !status)
            return status.error().with_context(fmt::format("pull {}", i));
        if (!seen.insert(link.adjustments[i].given).second) {
            return bad("pull {} is given the same as one before; put them into one", i);
        }
    }
    if (!link.adjustments.empty() && link.trees() > limits::kMaxTrees) {
        return base::make_error(Reason::kTooManyTrees, "{} trees in all ensembles; allowed are {}",
                                link.trees(), limits::kMaxTrees);
    }
    return base::ok();
}

base::Status check_link_strata(const LearnedLink& link, const dataset::FeatureSchema& schema) {
    if (!link.strata) return base::ok();
    if (!link.members.empty() || !link.adjustments.empty())
        return bad("strata with {} members and {} pulls; they can have neither",
                   link.members.size(), link.adjustments.size());
    if (const auto fault = fault_of(*link.strata, schema)) return bad("{}", *fault);
    if (link.ramp.thresholds.size() % link.strata->count != 0)
        return bad("{} thresholds for {} strata", link.ramp.thresholds.size(), link.strata->count);
    if (!link.ramp.group_aware()) return bad("strata of a ramp that is the same for all rows");
    return base::ok();
}

base::Status check_scale(const LearnedLink& link) {
    const auto& scale = link.scale;
    if (scale.kind == ScoreScale::Kind::kLogOdds) {
        if (scale.levels == 0) return base::ok();
        return bad("{} levels of a score that is not on the unit scale", scale.levels);
    }
    if (scale.levels > kMaxScoreLevels) {
        return bad("{} levels of scores; allowed are {}", scale.levels, kMaxScoreLevels);
    }
    if (link.calibrations.empty() && link.adjustments.empty()) return base::ok();
    return bad("a score on the unit scale with {} calibrations and {} pulls; it can have neither",
               link.calibrations.size(), link.adjustments.size());
}

/// Returns the least that an ensemble takes in a file.
size_t least_bytes(const Ensemble& ensemble) {
    constexpr size_t kLeastOfNode = 20;  // value and cover 16, its other columns at least 4
    size_t bytes = 0;
    for (const Tree& tree : ensemble.trees) {
        bytes += kLeastOfNode * tree.nodes.size();
        for (const auto& set : tree.category_sets) bytes += sizeof(uint64_t) * set.size();
    }
    return bytes;
}

/// Checks that a file can hold all links, so that no policy is made that cannot be saved.
base::Status check_size(const std::vector<Link>& links) {
    size_t bytes = 0;
    for (const auto& link : links) {
        const auto* learned = std::get_if<LearnedLink>(&link);
        if (learned == nullptr) continue;
        bytes += least_bytes(learned->ensemble);
        for (const auto& more : learned->additional_ensembles) bytes += least_bytes(more);
        for (const auto& pull : learned->adjustments)
            for (const auto& posterior : pull.posteriors) bytes += least_bytes(posterior);
    }
    if (bytes <= limits::kMaxModelFileBytes) return base::ok();
    return base::make_error(Reason::kModelFileTooLarge,
                            "the model takes at least {} bytes; allowed are {}; use fewer trees, "
                            "or features of fewer categories",
                            bytes, limits::kMaxModelFileBytes);
}

base::Status check_learned(const LearnedLink& link, const dataset::FeatureSchema& schema) {
    RAMPART_RETURN_IF_ERROR(validate(link.ensemble, schema));
    if (!std::isfinite(link.score_slope) || !std::isfinite(link.score_intercept)) {
        return bad("score slope {} and intercept {} must be finite", link.score_slope,
                   link.score_intercept);
    }
    RAMPART_RETURN_IF_ERROR(check_ramp(link.ramp));
    if (!(link.exploration.epsilon >= 0 && link.exploration.epsilon < 0.5)) {
        return bad("epsilon {} is outside [0, 0.5)", link.exploration.epsilon);
    }
    if (!(link.kappa > 0 && link.kappa <= 1)) return bad("kappa {} is outside (0, 1]", link.kappa);
    RAMPART_RETURN_IF_ERROR(check_calibrations_and_pulls(link, schema));
    RAMPART_RETURN_IF_ERROR(check_scale(link));
    RAMPART_RETURN_IF_ERROR(check_link_strata(link, schema));
    return check_members(link, schema);
}

base::Status check_text(std::string_view what, std::string_view text, size_t limit) {
    if (text.size() > limit)
        return bad("{} has {} bytes; allowed are {}", what, text.size(), limit);
    if (!base::is_utf8(text)) return bad("{} is not UTF-8", what);
    return base::ok();
}

base::Status check_provenance(const std::map<std::string, std::string>& provenance) {
    if (provenance.size() > kMaxProvenanceEntries) {
        return bad("{} provenance entries; allowed are {}", provenance.size(),
                   kMaxProvenanceEntries);
    }
    if (const auto key = key_of_state(provenance))
        return bad(
            "provenance '{}': programs read this, so it is a field of the policy's state "
            "and no text; train the model with this version of Rampart",
            *key);
    for (const auto& [key, value] : provenance) {
        RAMPART_RETURN_IF_ERROR(check_text("a provenance key", key, limits::kMaxNameBytes));
        RAMPART_RETURN_IF_ERROR(
            check_text(fmt::format("provenance '{}'", key), value, kMaxProvenanceValueBytes));
    }
    return base::ok();
}

/// Checks that group-aware ramps agree on the groups, and that only they have groups.
base::Status check_groups(const std::vector<Link>& links, const std::vector<std::string>& names,
                          bool group_aware) {
    std::set<std::string_view> seen;
    for (const auto& name : names) {
        RAMPART_RETURN_IF_ERROR(check_text("a group name", name, limits::kMaxRecordBytes));
        if (!seen.insert(name).second) return bad("group '{}' is listed twice", name);
    }
    if (!group_aware && !names.empty()) {
        return bad(
            "{} group names, but no ramp has a threshold for each group, nor is there a "
            "calibration for each",
            names.size());
    }
    for (size_t i = 0; i < links.size(); ++i) {
        const auto* learned = std::get_if<LearnedLink>(&links[i]);
        if (learned == nullptr) continue;
        const size_t strata = learned->strata ? learned->strata->count : 1;
        const auto fits = [&](const RampRule& ramp) {
            return !ramp.group_aware() || ramp.thresholds.size() == strata * names.size();
        };
        if (!fits(learned->ramp)) {
            return bad("link {} has {} thresholds for {} groups{}", i,
                       learned->ramp.thresholds.size(), names.size(),
                       strata > 1 ? fmt::format(" in {} strata", strata) : "");
        }
        if (learned->calibrations.size() > 1 && learned->calibrations.size() != names.size()) {
            return bad("link {} has {} calibrations for {} groups", i, learned->calibrations.size(),
                       names.size());
        }
        for (size_t m = 0; m < learned->members.size(); ++m) {
            const auto& ramp = learned->members[m].ramp;
            if (!ramp || fits(*ramp)) continue;
            return bad("link {}: member {} has {} thresholds for {} groups", i, m,
                       ramp->thresholds.size(), names.size());
        }
    }
    return base::ok();
}

}  // namespace

double RampRule::apply(double f, size_t cell) const {
    const size_t g = group_aware() ? cell : 0;
    const double pull = slopes.empty() ? f : slopes[g] * f;
    if (gamma == 0) {
        if (pull == thresholds[g]) return ties[g];
        return pull > thresholds[g] ? 1 : 0;
    }
    return std::clamp((pull - thresholds[g]) / gamma + offset, 0.0, 1.0);
}

size_t LearnedLink::cell_of(std::span<const float> row, size_t group) const {
    if (!strata) return group;
    return strata->of(row[strata->feature]) * (ramp.thresholds.size() / strata->count) + group;
}

double LearnedLink::probability(double p, size_t group) const {
    if (calibrations.empty()) return p;
    return apply(calibrations[calibrations.size() > 1 ? group : 0], p);
}

double LearnedLink::value(double p) const {
    return std::clamp(score_slope * p + score_intercept, -1.0, 1.0);
}

bool LearnedLink::group_aware() const {
    return ramp.group_aware() || calibrations.size() > 1 ||
           std::any_of(members.begin(), members.end(),
                       [](const Member& m) { return m.ramp && m.ramp->group_aware(); });
}

size_t LearnedLink::trees() const {
    size_t sum = ensemble.trees.size();
    for (const Ensemble& other : additional_ensembles) sum += other.trees.size();
    for (const GroupBlindAdjustment& pull : adjustments) {
        for (const Ensemble& posterior : pull.posteriors) sum += posterior.trees.size();
    }
    return sum;
}

double Exploration::apply(double q) const {
    switch (mode) {
        case ExplorationMode::kNone:
            return q;
        case ExplorationMode::kOneSided:
            return std::max(q, epsilon);
        case ExplorationMode::kTwoSided:
            return std::clamp(q, epsilon, 1 - epsilon);
    }
    RAMPART_CHECK(false, "exploration mode {}", static_cast<int>(mode));
}

Result<Policy> Policy::create(dataset::FeatureSchema schema, std::vector<Link> links,
                              std::vector<std::string> group_names,
                              std::map<std::string, std::string> provenance, PolicyState state) {
    if (schema.size() == 0) return bad("the schema has no features");
    if (links.empty() || links.size() > limits::kMaxChainLinks) {
        return base::make_error(Reason::kBadChainLength, "{} links; allowed are 1 to {}",
                                links.size(), limits::kMaxChainLinks);
    }
    Policy policy;
    for (size_t i = 0; i < links.size(); ++i) {
        const auto* learned = std::get_if<LearnedLink>(&links[i]);
        if (learned == nullptr && i > 0)
            return bad("link {} is a bootstrap; only the first can be", i);
        const auto status = learned != nullptr
                                ? check_learned(*learned, schema)
                                : check_bootstrap(std::get<BootstrapLink>(links[i]), schema);
        if (!status) return status.error().with_context(fmt::format("link {}", i));
        if (learned != nullptr) policy.group_aware_ |= learned->group_aware();
    }
    RAMPART_RETURN_IF_ERROR(check_size(links));
    RAMPART_RETURN_IF_ERROR(check_groups(links, group_names, policy.group_aware_));
    RAMPART_RETURN_IF_ERROR(check_provenance(provenance));
    RAMPART_RETURN_IF_ERROR(check_state(state, schema));
    for (size_t i = 0; i < links.size(); ++i) {
        auto& engine = policy.engines_.emplace_back();
        auto& mixture = policy.mixtures_.emplace_back();
        auto& adjustments = policy.adjustments_.emplace_back();
        if (const auto* bootstrap = std::get_if<BootstrapLink>(&links[i])) {
            policy.bootstrap_feature_ = schema.find(bootstrap->feature);
            continue;
        }
        const auto& learned = std::get<LearnedLink>(links[i]);
        if (learned.members.empty()) {
            engine.emplace(learned.ensemble);
        } else {
            mixture = std::make_shared<const Mixture>(learned);
        }
        if (!learned.adjustments.empty())
            adjustments = std::make_shared<const GroupBlindAdjustments>(learned.adjustments);
    }
    policy.schema_ = std::move(schema);
    policy.links_ = std::move(links);
    policy.group_names_ = std::move(group_names);
    policy.provenance_ = std::move(provenance);
    policy.state_ = std::move(state);
    return policy;
}

std::map<std::string, std::string> Policy::printed_facts() const {
    auto facts = text_of(state_);
    facts.insert(provenance_.begin(), provenance_.end());
    return facts;
}

PolicyOutput Policy::evaluate(std::span<const float> row, std::optional<size_t> group) const {
    RAMPART_CHECK(row.size() >= schema_.size(), "{} values for {} features", row.size(),
                  schema_.size());
    RAMPART_CHECK(!group_aware_ || (group && *group < group_names_.size()), "group of {} not given",
                  group_names_.size());
    PolicyOutput out;
    for (size_t i = 0; i < links_.size(); ++i) {
        if (const auto* bootstrap = std::get_if<BootstrapLink>(&links_[i])) {
            begin_chain(out, *bootstrap, row[*bootstrap_feature_]);
            continue;
        }
        const auto& link = std::get<LearnedLink>(links_[i]);
        const size_t index = group.value_or(0);
        if (mixtures_[i]) {
            const auto mixed = mixtures_[i]->evaluate(row, index);
            add_link(out, link, i == 0, {mixed.score, mixed.approve});
        } else {
            const double raw = engines_[i]->predict_raw(row);
            add_link(out, link, i == 0, step_of(link, raw, adjustments_[i].get(), row, index));
        }
    }
    return out;
}

bool Policy::draws_score() const {
    const auto* link = last_learned();
    return link != nullptr && link->scale.levels > 0;
}

std::vector<ScoreMass> Policy::scores(std::span<const float> row,
                                      std::optional<size_t> group) const {
    const auto* link = last_learned();
    if (!draws_score() || !mixtures_.back()) return {{evaluate(row, group).score, 1}};
    auto masses = mixtures_.back()->scores(row);
    const double way = link->score_slope < 0 ? -1 : 1;
    std::stable_sort(masses.begin(), masses.end(), [&](const ScoreMass& a, const ScoreMass& b) {
        return way * a.score > way * b.score;
    });
    std::vector<ScoreMass> out;
    for (const auto& mass : masses) {
        if (out.empty() || out.back().score != mass.score) {
            out.push_back(mass);
        } else {
            out.back().weight += mass.weight;
        }
    }
    return out;
}

const LearnedLink* Policy::last_learned() const { return std::get_if<LearnedLink>(&links_.back()); }

}  // namespace rampart::model
