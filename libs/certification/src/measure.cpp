#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "rampart/base/bytes.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/constraints/reasons.hpp"
#include "rampart/ope/reasons.hpp"

namespace rampart::certification {
namespace {

using base::make_error;
using base::Status;

/// Rounding in the policy that clips to the trust region.
constexpr double kTrustTolerance = 1e-9;

template <class... Args>
PublicResult refused(base::AnyReason reason, fmt::format_string<Args...> format, Args&&... args) {
    return {Verdict::kRefused, std::string(reason->word),
            fmt::format(format, std::forward<Args>(args)...)};
}

/// Returns the unit of kappa.
double trust_unit(const GateConfig& config, double s) {
    return config.trust_region == TrustRegion::kApprovals ? s : std::min(s, 1 - s);
}

/// Calls see(pi, s) for each probability of the candidate that the trust region bounds. Without
/// referrals that of a decline moves as an approval's does.
template <class See>
void each_bounded(const GateConfig& config, const ope::Record& r, const See& see) {
    see(r.candidate, r.reference);
    if (r.candidate_refer == 0 && r.reference_refer == 0) return;
    see(r.candidate_refer, r.reference_refer);
    if (config.trust_region == TrustRegion::kApprovals) return;
    see(ope::decline_probability(r.candidate, r.candidate_refer),
        ope::decline_probability(r.reference, r.reference_refer));
}

/// Returns the largest distance from the reference, in units of the trust region over kappa.
double trust_ratio(const GateConfig& config, const ope::Record& record) {
    double most = 0;
    each_bounded(config, record, [&](double pi, double s) {
        const double unit = std::max(trust_unit(config, s), kTrustTolerance);
        most = std::max(most, std::abs(pi - s) / unit);
    });
    return most;
}

bool outside_trust_region(const GateConfig& config, const ope::Record& record) {
    bool outside = false;
    each_bounded(config, record, [&](double pi, double s) {
        const double room = config.kappa * trust_unit(config, s) + kTrustTolerance;
        outside = outside || std::abs(pi - s) > room;
    });
    return outside;
}

/// Returns where the draws are furthest from the logged propensities.
std::string furthest(const RunPlan& plan) {
    const auto of = [](double z, double deciles) { return std::max(std::abs(z), deciles); };
    double most = of(plan.calibration_z, plan.decile_z);
    std::string where = "over all records";
    const auto see = [&](double distance, std::string place) {
        if (distance > most) most = distance, where = std::move(place);
    };
    for (size_t l = 0; l < plan.logger_ids.size(); ++l) {
        see(of(plan.logger_calibration[l], plan.logger_decile_z[l]),
            fmt::format("for the policy {}", plan.logger_ids[l]));
    }
    for (const GroupPlan& group : plan.groups) {
        see(of(group.weights.calibration_z, group.weights.decile_z),
            fmt::format("in group {}", group.name));
    }
    return where;
}

/// Returns where the logged propensities do not fit the draws; empty: they fit everywhere.
std::string uncalibrated(const RunPlan& plan) {
    const auto& fixed = plan.config.max_calibration_z;
    const double level = calibration_level_of_a_test(plan);
    if (plan.config.records_per_person > 0) {
        return plan.calibration_log_wealth < -std::log(plan.config.calibration_level)  // not NaN
                   ? ""
                   : furthest(plan);
    }
    const auto fits = [&](double z, double deciles) {  // false for NaN
        if (fixed) return std::abs(z) <= *fixed && deciles <= *fixed;
        return std::erfc(std::abs(z) / std::numbers::sqrt2) >= level &&
               std::erfc(deciles / std::numbers::sqrt2) / 2 >= level;
    };
    if (!fits(plan.calibration_z, plan.decile_z)) return "over all records";
    for (size_t l = 0; l < plan.logger_ids.size(); ++l) {
        if (!fits(plan.logger_calibration[l], plan.logger_decile_z[l])) {
            return fmt::format("for the policy {}", plan.logger_ids[l]);
        }
    }
    for (const GroupPlan& group : plan.groups) {
        if (!fits(group.weights.calibration_z, group.weights.decile_z)) {
            return fmt::format("in group {}", group.name);
        }
    }
    return "";
}

std::string_view bytes_of(const Pseudonym& p) {
    return {reinterpret_cast<const char*>(p.data()), p.size()};
}

/// Appends the digest's bytes of a record. `constrained`: with labels and conditions.
void append_record(std::string& out, const VaultRecord& r, bool constrained) {
    out += bytes_of(r.unit);
    out += bytes_of(r.id);
    base::append_u32(out, r.logger);
    base::append_f64(out, r.p + 0.0);  // + 0.0: one zero, not two
    base::append_f64(out, r.candidate + 0.0);
    base::append_f64(out, r.reference + 0.0);
    base::append_f64(out, r.anchor + 0.0);
    base::append_u64(out, r.groups);
    base::append_u8(out,
                    static_cast<uint8_t>((r.second_half ? 32 : 0) | (r.refers() ? 16 : 0) |
                                         (r.control_variates ? 8 : 0) | (r.overridden ? 4 : 0) |
                                         (r.approved ? 2 : 0) | (r.has_impact ? 1 : 0)));
    if (r.control_variates) {
        base::append_f64(out, r.control_variates->approve + 0.0);
        base::append_f64(out, r.control_variates->decline + 0.0);
    }
    if (r.refers()) {
        for (const double p : {r.p_refer, r.candidate_refer, r.reference_refer, r.anchor_refer}) {
            base::append_f64(out, p + 0.0);
        }
        base::append_u8(out, static_cast<uint8_t>(r.referral));
    }
    if (!constrained) return;
    base::append_u8(out, r.has_label ? 1 : 0);
    base::append_u64(out, r.conditions);
}

}  // namespace

ope::ImpactModel impact_model(const GateConfig& config, const GroupPlan& group) {
    return {.lo = config.impact_lo,
            .hi = config.impact_hi,
            .q_approve = group.q_approve,
            .q_decline = group.q_decline,
            .declined = config.declined_impact,
            .declines_overridden = config.declines_overridden,
            .absolute = config.at_least,
            .max_weight = config.max_weight,
            .missing_gamma = config.missing_gamma,
            .q_refer = group.q_refer};
}

ope::Record estimate_of(const VaultRecord& r, Against against) {
    const bool anchored = against == Against::kAnchor;
    return {.p = r.p,
            .approved = r.approved,
            .candidate = r.candidate,
            .reference = anchored ? r.anchor : r.reference,
            .impact = std::nullopt,
            .overridden = r.overridden,
            .control_variates = r.control_variates,
            .p_refer = r.p_refer,
            .candidate_refer = r.candidate_refer,
            .reference_refer = anchored ? r.anchor_refer : r.reference_refer,
            .referral = r.referral};
}

double widest_loss(const GateConfig& config, Against against) {
    const double a = config.impact_lo, b = config.impact_hi, slack = -1e-7 * (b - a);
    if (config.at_least) return a - *config.at_least + slack;
    // the trust region is about the reference; weights that are cut count a for the rest
    const double room =
        config.trust_region == TrustRegion::kApprovals ? config.kappa : config.kappa / 2;
    const double change = against == Against::kAnchor ? 1 : std::min(room, 1.0);
    // what is taken from a referral and given to an approval changes impacts by up to b - a
    const bool known = config.declined_impact && !config.declines_overridden && !config.referrals;
    const double worst =
        known ? std::max(b - *config.declined_impact, *config.declined_impact - a) : b - a;
    return -change * worst - (config.max_weight ? b - a : 0) + slack;
}

bool counts_least(const GateConfig& config, const GroupPlan& plan, const ope::Record& record,
                  const ope::ImpactModel& model) {
    if (config.records_per_person == 0) return false;
    if (!ope::has_support(record, model)) return true;
    return ope::change_range(record, model).lo + config.margin <
           plan.lo / config.records_per_person;
}

double record_value(const GateConfig& config, const GroupPlan& plan, const ope::Record& record,
                    const ope::ImpactModel& model) {
    const double value =
        (counts_least(config, plan, record, model) ? ope::least_change(record, model)
                                                   : ope::impact_change(record, model)) +
        config.margin;
    if (config.records_per_person == 0) return value;
    return std::min(value, plan.hi / config.records_per_person);
}

GroupMeasure::GroupMeasure(const GateConfig& config, const GroupPlan& plan)
    : config_(&config), model_(impact_model(config, plan)) {
    plan_.against = plan.against;
    if (config.records_per_person > 0) {
        plan_.lo = plan.lo;
        plan_.hi = plan.hi;
        return;
    }
    // A lower lower end is always valid, and bets need one below zero.
    plan_.lo = -1e-9 * (config.impact_hi - config.impact_lo);
    plan_.hi = 0;
}

void GroupMeasure::close_unit() {
    if (!unit_) return;
    ++plan_.units;
    if (config_->records_per_person > 0) return;
    plan_.lo = std::min(plan_.lo, unit_lo_);
    plan_.hi = std::max(plan_.hi, unit_hi_);
    unit_lo_ = unit_hi_ = 0;
}

void GroupMeasure::add(const VaultRecord& r) {
    if (!unit_ || *unit_ != r.unit) {
        close_unit();
        unit_ = r.unit;
    }
    ++plan_.records;
    if (outcome_expected(*config_, r)) {
        ++plan_.expected;
        plan_.missing += !r.has_impact;
    }
    plan_.overridden += r.overridden;
    plan_.referred += r.referral != ope::Referral::kNone;
    plan_.unanswered += r.unanswered();
    plan_.by_rule += r.p_refer == 1;
    const ope::Record record = estimate_of(r, plan_.against);
    changed_ = changed_ || record.candidate != record.reference ||
               record.candidate_refer != record.reference_refer;
    plan_.max_trust_ratio = std::max(plan_.max_trust_ratio, trust_ratio(*config_, record));
    if (config_->records_per_person > 0) {
        plan_.beyond_range += counts_least(*config_, plan_, record, model_);
    } else {
        const ope::Interval range = ope::change_range(record, model_);
        unit_lo_ += range.lo + config_->margin;
        unit_hi_ += range.hi + config_->margin;
    }
    weights_.add(r.candidate, r.p, r.approved,
                 {r.candidate_refer, r.p_refer, r.referral != ope::Referral::kNone});
}

void GroupMeasure::finish(GroupPlan& plan) {
    close_unit();
    unit_.reset();
    const GroupPlan& figures = plan_;
    plan.records = figures.records;
    plan.units = figures.units;
    plan.expected = figures.expected;
    plan.missing = figures.missing;
    plan.overridden = figures.overridden;
    plan.referred = figures.referred;
    plan.unanswered = figures.unanswered;
    plan.by_rule = figures.by_rule;
    plan.max_trust_ratio = figures.max_trust_ratio;
    plan.lo = figures.lo;
    plan.hi = figures.hi;
    plan.beyond_range = figures.beyond_range;
    plan.erased = figures.erased;
    plan.weights = weights_.diagnostics();
}

Status check_record_control_variates(const GateConfig& config,
                                     const std::optional<ope::ControlVariates>& control_variates,
                                     const std::function<std::string()>& record) {
    if (control_variates.has_value() !=
        (config.control_variates == ControlVariateKind::kRegression)) {
        return make_error(ope::Reason::kBadCentre,
                          "record {}: it has {} centre of its own, and gate.control_variates is "
                          "\"{}\": with \"regression\" "
                          "every record of the development set and the vault has one, else none",
                          record(), control_variates ? "a" : "no",
                          to_string(config.control_variates));
    }
    if (!control_variates) return base::ok();
    for (const double q : {control_variates->approve, control_variates->decline}) {
        if (q >= config.impact_lo && q <= config.impact_hi) continue;  // false for NaN
        return make_error(ope::Reason::kBadCentre,
                          "record {}: its centre {} lies outside the declared range [{}, {}]",
                          record(), q, config.impact_lo, config.impact_hi);
    }
    return base::ok();
}

VaultMeasure::VaultMeasure(const GateConfig& config, const VaultNames& names,
                           const std::vector<GroupPlan>& groups)
    : config_(&config),
      model_(impact_model(config, {})),
      names_(names),
      plans_(groups),
      by_logger_(names.loggers.size()),
      logger_wealth_(names.loggers.size()),
      group_wealth_(names.groups.size()),
      referrals_(config) {
    if (config.records_per_person == 0) names_.erased = {};  // as in older certificates
    for (const GroupPlan& group : groups) {
        groups_.emplace_back(config, group);
        groups_.back().count_erased(names_.erased.in_group(group.index));
        anchored_ = anchored_ || group.against == Against::kAnchor;
    }
    for (const auto* list : {&names_.loggers, &names_.groups}) {
        base::append_u64(bytes_, list->size());
        for (const std::string& name : *list) base::append_field(bytes_, name);
    }
}

Status VaultMeasure::check(const VaultRecord& r) const {
    const auto id = [&] { return base::to_hex(bytes_of(r.id)); };
    if (last_ && !(*last_ < std::pair(r.unit, r.id))) {
        return make_error(Reason::kBadVaultOrder,
                          "record {}: records must ascend by person and id, each once", id());
    }
    for (const auto& [p, refer] :
         {std::pair(r.p, r.p_refer), std::pair(r.candidate, r.candidate_refer),
          std::pair(r.reference, r.reference_refer), std::pair(r.anchor, r.anchor_refer)}) {
        if (p >= 0 && p <= 1 && refer >= 0 && refer <= 1 && p + refer <= 1 + 1e-12) continue;
        return make_error(base::Reason::kBadProbability,
                          "record {}: {} to approve and {} to refer are not probabilities: each "
                          "and their sum must lie in [0, 1]",
                          id(), p, refer);
    }
    const bool referred = r.referral != ope::Referral::kNone;
    if (referred && (r.approved || r.overridden || (r.unanswered() && r.has_impact))) {
        return make_error(base::Reason::kBadFlag,
                          "record {}: a referral is neither approved nor overridden, and one "
                          "without an answer has no impact",
                          id());
    }
    const double propensity = referred     ? r.p_refer
                              : r.approved ? r.p
                                           : ope::decline_probability(r.p, r.p_refer);
    if (!(propensity > 0)) {
        return make_error(
            base::Reason::kBadPropensity,
            "record {}: the action drawn has probability 0 in the log, so the log is wrong", id());
    }
    if (r.logger >= names_.loggers.size()) {
        return make_error(ope::Reason::kBadLogger, "record {}: logger {} of {}", id(), r.logger,
                          names_.loggers.size());
    }
    if (r.control_variates || config_->control_variates == ControlVariateKind::kRegression) {
        RAMPART_RETURN_IF_ERROR(check_record_control_variates(*config_, r.control_variates, id));
    }
    if (names_.groups.size() < 64 && r.groups >> names_.groups.size() != 0) {
        return make_error(base::Reason::kBadGroup,
                          "record {}: it is in a group beyond the {} named", id(),
                          names_.groups.size());
    }
    return base::ok();
}

bool VaultMeasure::supported(const VaultRecord& r) const {
    return ope::has_support(estimate_of(r, Against::kReference), model_) &&
           (!anchored_ || ope::has_support(estimate_of(r, Against::kAnchor), model_));
}

Status VaultMeasure::add(const VaultRecord& r) {
    RAMPART_RETURN_IF_ERROR(check(r));
    of_person_ = last_ && last_->first == r.unit ? of_person_ + 1 : 1;
    most_of_a_person_ = std::max(most_of_a_person_, of_person_);
    last_.emplace(r.unit, r.id);
    ++records_;
    append_record(bytes_, r, !config_->named_constraints.empty());
    calibration_.add(r.p, r.approved);
    by_logger_[r.logger].add(r.p, r.approved);
    if (config_->records_per_person > 0) bet(r);
    changed_ = changed_ || r.candidate != r.reference || r.candidate_refer != r.reference_refer;
    granted_declines_ += r.overridden && !r.approved;
    referrals_.add(r.p_refer, {r.candidate_refer, r.reference_refer,
                               anchored_ ? r.anchor_refer : r.reference_refer});
    outside_ += outside_trust_region(*config_, estimate_of(r, Against::kReference));
    unsupported_ += !supported(r);
    for (size_t i = 0; i < groups_.size(); ++i) {
        if ((r.groups >> plans_[i].index & 1) != 0) groups_[i].add(r);
    }
    return base::ok();
}

void VaultMeasure::bet(const VaultRecord& r) {
    wealth_.add(r);
    logger_wealth_[r.logger].add(r);
    for (size_t g = 0; g < group_wealth_.size(); ++g) {
        if ((r.groups >> g & 1) != 0) group_wealth_[g].add(r);
    }
}

/// Returns ln of the average: an average of wealths is one. The weights of loggers do not depend on
/// how many there are by now; those that are to come have kept theirs.
double VaultMeasure::calibration_log_wealth() const {
    std::vector<std::pair<double, double>> parts{{1.0 / 3, wealth_.log_wealth(*config_)}};
    for (const auto& group : group_wealth_) {
        parts.emplace_back(1.0 / 3 / static_cast<double>(group_wealth_.size()),
                           group.log_wealth(*config_));
    }
    double left = 1.0 / 3;
    for (size_t l = 0; l < logger_wealth_.size(); ++l) {
        const double weight = 1.0 / 3 / (static_cast<double>(l + 1) * static_cast<double>(l + 2));
        parts.emplace_back(weight, logger_wealth_[l].log_wealth(*config_));
        left -= weight;
    }
    parts.emplace_back(left, 0);
    double most = 0, sum = 0;
    for (const auto& [weight, log] : parts) most = std::max(most, log);
    for (const auto& [weight, log] : parts) sum += weight * std::exp(log - most);
    return most + std::log(sum);
}

Status VaultMeasure::read(const VaultSource& source) {
    return source.read([&](std::span<const VaultRecord> block) -> Status {
        for (const VaultRecord& record : block) {
            RAMPART_RETURN_IF_ERROR(add(record));
            if (bytes_.size() < 1 << 16) continue;
            hash_.update(bytes_);
            bytes_.clear();
        }
        return base::ok();
    });
}

std::optional<PublicResult> VaultMeasure::record_fault() const {
    const size_t allowed = config_->records_per_person;
    if (allowed > 0 && most_of_a_person_ > allowed) {
        return refused(Reason::kRecordsPerPerson,
                       "a person has {} records in the vault, at most {} are allowed: give the "
                       "first ones only",
                       most_of_a_person_, allowed);
    }
    if (auto fault = referrals_.fault()) return fault;
    if (!changed_) {
        return PublicResult{
            Verdict::kIdentical, "identical",
            "candidate and reference decide every vault record alike: there is nothing "
            "to certify"};
    }
    if (allowed == 0) {
        if (auto fault = override_fault(*config_, granted_declines_)) return fault;
    }
    if (unsupported_ > 0 && allowed == 0) {
        return refused(
            constraints::Reason::kNoSupport,
            "on {} records the candidate differs from the policy it is held against where the "
            "logging policy never took the action that matters: keep an exploration floor, "
            "or a candidate that changes nothing there",
            unsupported_);
    }
    if (outside_ > 0) {
        return refused(Reason::kOutsideTrustRegion,
                       "on some records of the vault the candidate is further from the "
                       "reference s than {}: clip it to the trust region",
                       trust_region_text(*config_));
    }
    return unchanged_group();
}

std::optional<PublicResult> VaultMeasure::unchanged_group() const {
    for (size_t i = 0; i < groups_.size(); ++i) {
        if (groups_[i].changed() || config_->at_least || groups_[i].records() == 0) continue;
        return refused(Reason::kGroupUnchanged,
                       "group {}: the candidate changes nothing on its vault records, so nothing "
                       "can be certified there",
                       plans_[i].name);
    }
    return std::nullopt;
}

void VaultMeasure::finish(RunPlan& plan) {
    plan.logger_ids = names_.loggers;
    plan.calibration_log_wealth = config_->records_per_person > 0 ? calibration_log_wealth() : 0.0;
    plan.calibration_z = calibration_.z();
    plan.decile_z = calibration_.decile_z();
    plan.logger_calibration.clear();
    plan.logger_decile_z.clear();
    for (const auto& logger : by_logger_) {
        plan.logger_calibration.push_back(logger.z());
        plan.logger_decile_z.push_back(logger.decile_z());
    }
    base::append_u64(bytes_, records_);
    plan.erased = names_.erased.records;
    plan.unexplained = names_.erased.unexplained;
    plan.unreadable = names_.erased.unreadable;
    if (plan.erased > 0) base::append_u64(bytes_, plan.erased);
    for (const size_t persons : names_.erased.of_group) base::append_u64(bytes_, persons);
    if (plan.unexplained + plan.unreadable > 0) {
        base::append_u64(bytes_, plan.unexplained);
        base::append_u64(bytes_, plan.unreadable);
    }
    hash_.update(bytes_);
    plan.vault_records = records_;
    plan.vault_digest = hash_.finish();
}

bool enough_outcomes(const GateConfig& config, const GroupPlan& group) {
    return static_cast<double>(group.missing + group.erased) <=
           config.max_missing_rate * static_cast<double>(group.expected + group.erased);
}

std::optional<PublicResult> override_fault(const GateConfig& config, size_t granted_declines) {
    if (!config.declined_impact || config.declines_overridden || granted_declines == 0) {
        return std::nullopt;
    }
    return refused(Reason::kDeclinesOverridden,
                   "people granted {} applications that were drawn as declines, so a decline's "
                   "impact is not {} for sure: set gate.declines_overridden = true, which counts "
                   "what became of these people for the draw",
                   granted_declines, *config.declined_impact);
}

/// Checks the drift of applicants, from features alone, so that the figure may be published.
std::optional<PublicResult> drift_fault(const RunPlan& plan) {
    const auto& allowed = plan.config.max_drift_auc;
    const auto& auc = plan.identity.drift_auc;
    if (!allowed) return std::nullopt;
    if (!auc) {
        return refused(Reason::kDriftUnknown,
                       "whether applicants have changed since the vault's records was to be "
                       "measured (max_drift_auc is {}), and was not",
                       *allowed);
    }
    if (*auc <= *allowed) return std::nullopt;  // NaN is not
    return refused(
        Reason::kFeaturesDrifted,
        "a classifier separates the latest applicants from those of the vault's "
        "records with an AUC of {:.3f}; at most {} is allowed: the vault says little about "
        "them, wait for newer records or open an epoch that leaves the old ones out",
        *auc, *allowed);
}

std::optional<PublicResult> too_few_units(const RunPlan& plan) {
    for (const GroupPlan& group : plan.groups) {
        // with the erased ones: who is erased may follow from outcomes
        const size_t units = group.units + group.erased;
        if (units >= plan.config.min_units) continue;
        return refused(constraints::Reason::kTooFewUnits,
                       "group {}: {} persons in the vault, {} are needed: wait for "
                       "more to mature",
                       group.name, units, plan.config.min_units);
    }
    return std::nullopt;
}

std::optional<PublicResult> find_figure_fault(const RunPlan& plan) {
    const GateConfig& config = plan.config;
    if (auto fault = drift_fault(plan)) return fault;
    if (auto fault = too_few_units(plan)) return fault;
    for (const GroupPlan& group : plan.groups) {
        if (config.records_per_person > 0 || enough_outcomes(config, group)) continue;
        return refused(constraints::Reason::kTooManyMissing,
                       "group {}: more than a share of {} of the outcomes that "
                       "should have matured are missing: find out why before testing",
                       group.name, config.max_missing_rate);
    }
    const std::string where = uncalibrated(plan);
    if (where.empty() || !plan.identity.acknowledged_alarm.empty()) return std::nullopt;
    // where, but not by how much: the figure depends on the vault's draws
    const std::string level =
        config.max_calibration_z
            ? fmt::format("|z| above {}", *config.max_calibration_z)
            : fmt::format("at a level of {} for the epoch", config.calibration_level);
    return refused(Reason::kPropensitiesDoNotFit,
                   "the {} drawn do not agree with the logged "
                   "probabilities ({} {}): the log is wrong, or what people did instead was "
                   "written over the draws and not reported as overrides",
                   config.referrals ? "approvals and referrals" : "approvals", level, where);
}

double calibration_level_of_a_test(const RunPlan& plan) {
    const auto groups = std::count_if(plan.groups.begin(), plan.groups.end(), [](const auto& g) {
        return g.against == Against::kReference;  // against the anchor the draws are the same
    });
    const double tests =
        2 * (1 + static_cast<double>(plan.logger_ids.size()) + static_cast<double>(groups));
    return plan.config.calibration_level / (plan.config.runs_per_epoch * tests);
}

base::Result<stats::Bets> plan_group_bets(const RunPlan& plan, const GroupPlan& group) {
    // the number does not change when a person of the group is erased, so bets tell nothing of why
    return stats::plan_bets({group.units + group.erased, group.plan_variance}, group.lo, plan.delta,
                            {.cap = plan.config.bet_cap});
}

}  // namespace rampart::certification
