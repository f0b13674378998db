#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/certification/gate_config.hpp"
#include "rampart/certification/vault.hpp"
#include "rampart/certification/verdict.hpp"
#include "rampart/ope/importance_weights.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/ope/value_bound.hpp"
#include "rampart/stats/betting.hpp"

namespace rampart::certification {

/// The safety test in phases, so that nothing reads an impact before it may:
///   precheck  reads the vault without impacts and the development set with them; fixes control
///             variates, ranges and bets
///             (the caller registers the run in the ledger, durably)
///   run       takes a ticket of the ledger and the vault's impacts; one bound per group, all must
///             pass
/// Each group gets the full delta_k: if any group is truly worse off, the chance that all pass is
/// at most the chance that this one does (intersection-union). Deterministic; the order of the
/// records does not matter. Safe to call from many threads on different objects.

/// Decisions of the vault that are not in the evidence, for one reason.
struct LeftOut {
    std::string reason;  // word for it: training_set::Omission
    std::string group;   // empty: all; kUnknownGroup: those of whom no group is known
    size_t records = 0;
    bool operator==(const LeftOut&) const = default;
};
inline constexpr std::string_view kUnknownGroup = "unknown";

/// Records in the evidence that a logging policy decided.
struct LoggerPeriod {
    std::string id;  // SHA-256 of the policy's model file; in a log of others, its name
    base::TimePoint first, last;  // event times
    size_t records = 0;
    bool operator==(const LoggerPeriod&) const = default;
};

/// Names of what is tested; goes into the certificate as it is.
struct RunIdentity {
    std::string candidate_id, reference_id;
    std::string anchor_id{};  // further policy that the candidate is compared with; empty: none
    std::string feature_schema_id;      // the candidate's
    std::string reference_schema_id{};  // the reference's; empty: the candidate's
    std::string metric;                 // definition of the impact, in words
    std::string vault_rule;             // rule by which the records were chosen, to read them again
    base::TimePoint period_from, period_to;  // decision times of the vault records
    /// AUC of a classifier between the latest applicants and the vault's, from features alone, on
    /// persons that it was not fitted to: monitoring::measure_drift. The gate does not recompute
    /// it.
    std::optional<double> drift_auc{};
    /// Constraints of its training that the candidate misses, and by how much; empty: none. The
    /// gate does not test them.
    std::string missed_in_training{};
    /// Persons of the vault of whom an earlier epoch has read a record. Then the claim is about the
    /// vault's people alone: that epoch's answers may show what kind of people they are.
    size_t read_before = 0;
    /// Records of the vault's persons that are left out: those that repeat an earlier draw, and
    /// later ones of a person with a draw of their own.
    size_t repeats = 0, later_records = 0;
    /// Records decided after the day's exploration was spent: there candidate and reference are
    /// what they decide then.
    size_t without_exploration = 0;
    size_t stopped = 0;  // left out because they were decided while a stop button was pressed
    /// Why an alarm of the test of logged probabilities is held to be false; then that test refuses
    /// no run. Empty: it was not acknowledged.
    std::string acknowledged_alarm{};
    std::string proposed_by{};  // a person, or "schedule"
    std::string software{};     // version and digest of the sources of the program that tests
    std::string recipe{};       // SHA-256 of the recipe of the candidate's training, where known
    std::vector<LoggerPeriod> loggers{};  // as RunPlan::logger_ids
    /// Decisions of the vault that were known, with those of erased persons and those in
    /// quarantine: the records in the evidence and those left out. 0: not counted, as in older
    /// certificates.
    size_t decisions = 0;
    size_t in_no_group = 0;           // records in the evidence that are in no group
    std::vector<LeftOut> left_out{};  // by reason; first all of one, then those in each group
};

/// Takes away what may depend on the vault's draws: for a certificate that any modeller may read.
void forget_counts(RunIdentity& identity);

/// Plan of a group, made before its impacts are read. All but q_*, plan_variance and
/// selection_units can be recomputed from the vault's records without impacts.
struct GroupPlan {
    std::string name;
    uint32_t index = 0;  // position among the vault's groups
    Against against = Against::kReference;
    size_t records = 0, units = 0, expected = 0, missing = 0;  // expected: outcomes due
    size_t overridden = 0;  // records where people did the other action than was drawn
    size_t referred = 0, unanswered = 0, by_rule = 0;  // referrals; without answer; of p_refer = 1
    double max_trust_ratio = 0;  // largest |pi - s|, in units of the trust region over kappa
    double lo = 0, hi = 0;       // range of a unit's value: GateConfig::records_per_person
    size_t beyond_range = 0;     // records that count the least their x allows: counts_least()
    size_t erased = 0;  // records set aside, each as a further person: lo; in no other figure
    ope::WeightDiagnostics weights;
    double q_approve = 0, q_decline = 0;  // control variates
    double q_refer = 0;                   // the same; 0 without GateConfig::referrals
    double plan_variance = 0;             // variance of a unit's value there
    size_t selection_units = 0;           // persons in the development set
    stats::Bets bets;
};

/// Plan of a constraint, made before the vault's outcomes are read.
struct ConstraintPlan {
    std::string name, expression;    // canonical text
    std::vector<std::string> means;  // leaves of the program
    constraints::Plan tests;
};

/// Plan of a run: all that is fixed before an impact of the vault is read. Its digest is
/// registered.
struct RunPlan {
    GateConfig config;
    RunIdentity identity;
    double delta = 0;   // delta_k: level of each group's bound
    uint32_t look = 0;  // 0: the first; 1, 2, …: on records that have matured since
    std::vector<std::string> logger_ids;
    /// ln of the wealth of bets that the draws do not follow the logged probabilities: a third each
    /// over all vault records, over groups and over loggers. Where ranges are fixed beforehand it
    /// decides; 0 elsewhere.
    double calibration_log_wealth = 0;
    double calibration_z = 0, decile_z = 0;                   // over all vault records
    std::vector<double> logger_calibration, logger_decile_z;  // per logger
    size_t vault_records = 0;
    size_t erased = 0;  // further records, counted at the worst: of erased persons, and of these
    size_t unexplained = 0, unreadable = 0;  // parts: by another schema file, unreadable
    std::vector<GroupPlan> groups;
    std::vector<ConstraintPlan> constraint_plans;  // as the configuration names them
    base::Digest selection_digest;                 // digest of the development set
    base::Digest vault_digest;                     // digest of the vault's records without impacts
};
base::Digest digest_of(const RunPlan& plan);
/// Returns the digest of what all looks at one candidate share: all but the vault's records and
/// rule.
base::Digest frozen_digest(const RunPlan& plan);

/// Result that modellers may see: one bit after a run. A reason is given only where no impact of
/// the vault was read (REFUSED, IDENTICAL). Numbers would let the next candidate be fitted to the
/// vault, and no correction of delta survives that; so they have a type of their own.
struct PublicResult {
    Verdict verdict = Verdict::kRefused;
    std::string reason;   // stable word, e.g. "too_few_units"
    std::string message;  // text for people: what, value, remedy
};

/// Forecast of a group's test, or of a constraint's, which has no predicted_lower.
struct GroupForecast {
    std::string name;
    double pass_probability = 0;
    /// Per record: the development set's mean less twice the t bound's width at the vault's n.
    double predicted_lower = 0;
};

/// The last look at a candidate, which a further look continues: earlier_look() reads it.
struct EarlierLook {
    RunPlan plan;
    std::vector<VaultRecord> records;  // with impacts, in the order of the vault
};

/// A run that may be registered: its plan, and the values in the development set that a forecast is
/// made from. It keeps nothing of the vault but pseudonyms in order, where the vault was given in
/// memory.
class PreparedRun {
  public:
    const RunPlan& plan() const { return plan_; }
    DeltaLedger::RunRequest request() const;

  private:
    friend struct RunAccess;
    PreparedRun() = default;
    RunPlan plan_;
    std::optional<MemoryVault> vault_;
    std::optional<EarlierLook> earlier_;  // where this is a further look
    std::vector<GroupForecast> constraint_forecast_;
    std::vector<std::vector<double>> selection_values_;  // per group: units' development values
};

/// Returns whether runs with these settings allow further looks: the bound is betting, the
/// control variates are constants, and there are no constraints, whose bets do not last.
bool allows_further_looks(const GateConfig& config);

/// Returns whether a further look may follow an earlier one: the settings allow it, and settings,
/// policies and metric are the same.
bool may_look_again(const RunPlan& earlier, const GateConfig& config, const RunIdentity& identity);

struct PrecheckResult {
    PublicResult result;                  // meaningful when there is no run
    std::optional<PreparedRun> prepared;  // empty: REFUSED or IDENTICAL
};

/// What precheck compares with the vault.
struct PrecheckInputs {
    const GateConfig& config;
    const RunIdentity& identity;
    const DeltaLedger& ledger;       // gives delta_k, of its open run or of the next
    std::string_view pseudonym_key;  // secret, at least 16 bytes: ids in the evidence stay hidden
    const ope::LoggedFeedback& selection;  // the development set, with impacts
    /// The last look at the same candidate: then this is a further look, with that plan's settings,
    /// control variates and bets, on at least that look's records, and is not charged again.
    const EarlierLook* earlier = nullptr;
};

/// Checks the preconditions, none of which needs a vault impact. Refuses, with a reason: broken or
/// duplicate records, other groups in the development set than in the vault, a person in both,
/// granted declines or referrals that were not declared, referrals by a rule that a policy does not
/// follow, too few units or outcomes, no support, a candidate
/// outside the trust region, too many missing outcomes, logged propensities that do not fit the
/// draws, a group in which the candidate changes nothing, a development set too small to plan from,
/// a constraint that the data cannot decide, a forecast below min_power, an epoch that is spent.
///
/// Refuses a further look where settings or groups are others or constraints were added
/// ("other_settings"), where a record of that look is gone or says something else
/// or fewer erased persons are counted ("earlier_records_changed"; that draws and impacts are the
/// same is checked by run()), and, where the range is not fixed beforehand, where it grew so much
/// that the bets could lose everything ("range_grew"). Without `earlier` it would be a run of its
/// own.
///
/// Errors are the operator's: invalid_argument for a bad configuration or key; failed_precondition
/// when no epoch is open, or when its budget is another than the configured one ("budget_changed").
base::Result<PrecheckResult> precheck(const PrecheckInputs& inputs, const VaultSource& vault);
/// The same of a vault in memory, which run() and seal() then know.
base::Result<PrecheckResult> precheck(const PrecheckInputs& inputs,
                                      const ope::LoggedDecisions& vault);

/// Chance of passing, estimated on the development set. Too high when the candidate was fitted to
/// the same records: pass the part of the development set that was held out as `selection` if there
/// is one.
struct Forecast {
    double pass_probability = 0;  // product over groups and constraints
    std::vector<GroupForecast> groups, constraints;
};
Forecast forecast(const PreparedRun& run);

struct GroupResult {
    std::string name;
    ope::ValueBound bound;
    bool passed = false;
};

/// Result of a constraint on the vault; no value: none can be given.
struct ConstraintResult {
    struct End {
        std::optional<double> estimate, bound;
    };
    struct Statement {
        std::vector<End> ends;  // as ConstraintPlan::tests.statements
        std::optional<double> lower;
        bool passed = false;
        std::optional<double> log_wealth{};  // for a difference that one process tests
    };
    std::string name;
    std::vector<Statement> statements;
    bool passed = false;
};

/// The numbers of a run: for the certificate and the auditors, not for those who make candidates.
struct SealedResult {
    Verdict verdict = Verdict::kNoSolutionFound;
    std::vector<GroupResult> groups;
    std::vector<ConstraintResult> constraints;
    /// With missing_gamma, where outcomes are missing: their largest distance from their control
    /// variates at which all groups pass, to 1/256 of b - a; 0 when they do not pass at any.
    std::optional<double> tipping_gamma{};
    PublicResult published() const { return {verdict, "", ""}; }
};

/// Runs the test. `feedback`: the records that precheck read, with impacts; it may be opened with
/// the ticket only. Errors: failed_precondition when the ticket is for another plan
/// ("wrong_ticket") or the vault's records are no longer those of the plan ("vault_changed");
/// invalid_argument when an impact is out of the declared range or does not fit has_impact. After
/// an error the run is still open: correct the data and run it again.
base::Result<SealedResult> run(const PreparedRun& run, const RunTicket& ticket,
                               const VaultSource& feedback);
/// The same for a vault in memory: `vault_impact` is indexed like the decisions given to precheck,
/// and so is `vault_label`, where they have labels.
base::Result<SealedResult> run(const PreparedRun& run, const RunTicket& ticket,
                               const std::vector<double>& vault_impact,
                               const std::vector<double>& vault_label = {});

}  // namespace rampart::certification
