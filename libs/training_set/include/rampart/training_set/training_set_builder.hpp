#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/domain/stopped_period.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/protected_attributes/store.hpp"

namespace rampart::training_set {

inline constexpr double kVaultShare = 0.4;

/// Rule for attributes that became known after a decision was made. Whether they arrive may depend
/// on what was drawn (approved people hand in more forms), and then a group's records are selected
/// by the draw: with the first rule no such record counts as of a group.
enum class LateAttributes {
    kMissing,  // cell and groups by what was known when the decision was made
    kAssumed,  // by what is known now: assumes that arrival does not depend on the decision
};

/// Reason why a decision is not among the records that the gate reads.
enum class Omission {
    kEarlierEpoch,  // read with an earlier error budget
    kTooOld,        // older than the settings allow
    kImmature,      // horizon and grace are not over
    kStopped,       // made while a stop button was pressed
    kRepeat,        // repeats an earlier draw about the person
    kLaterRecord,   // not the first about the person
    kUndecidable,   // a policy needs the person's groups, and they are not known
    kErased,        // the person was erased
    kQuarantined,   // cannot be read; of which side it is, is not known
    kOtherSchema,   // by another schema file: Unexplained
};
inline constexpr std::array kOmissions{
    Omission::kEarlierEpoch, Omission::kTooOld,      Omission::kImmature,    Omission::kStopped,
    Omission::kRepeat,       Omission::kLaterRecord, Omission::kUndecidable, Omission::kErased,
    Omission::kQuarantined,  Omission::kOtherSchema};
std::string_view to_string(Omission why);  // "earlier_epoch", "too_old", "immature", …

/// A decision that is no row.
struct Omitted {
    base::TimePoint event_time;
    Omission why = Omission::kImmature;
    std::vector<uint32_t> groups{};  // as Row::groups
};

/// Decisions that the schema file of this node does not explain: they have a feature that it does
/// not know under any name, lack one that it gives no default, or have a value of another kind. So
/// another file decided them. They are no rows, since their features are not missing, and keep no
/// others from being read. Once the file is put right they are rows. These are the matured ones of
/// both sides, and none is named: with the number of one side, as a certificate has it, a name
/// could show the side of its person.
struct Unexplained {
    size_t decisions = 0;
    std::string why{};  // feature of the first, and what to do; empty: there are none
};

/// One of these, of a set's side. It is one of its person all the same: rows after it are later
/// ones, and it is a later one itself after a row that is no repeat, or after another one. So each
/// person has one at most that is not later, and then no row that is its first.
struct SetAside {
    domain::PersonId person;
    domain::DecisionId decision;
    base::TimePoint event_time, decided_at;
    std::vector<uint32_t> groups{};  // as Row::groups
    bool later = false;
};

/// One matured decision, by intention to treat: `approved` or `referred` is what was drawn, with
/// p_approve and p_refer the probabilities; label and impact are those of the action taken in the
/// end, and count for the one drawn. People answer a referral by an override; one that they have
/// not answered has an impact that is not known.
///
/// A censored report leaves label and impact empty, as if none had come: the learner skips
/// the row, and the gate counts it as missing, at its worst and against max_missing_rate, so that
/// bad outcomes cannot be removed by censoring them. A loan's known end is reported as an outcome.
struct Row {
    domain::DecisionId decision;
    domain::PersonId person;
    base::TimePoint event_time;
    base::TimePoint decided_at;
    std::optional<domain::DrawWindow> window;  // the draw's; nullopt: a draw of its own
    /// An earlier decision about the person has the same window and so the same draw: given that
    /// one, p_approve is not the probability of this one, which is no evidence. Earlier is by the
    /// service's clock, since the event time is the client's to choose; of equal times, by the id.
    bool repeat = false;
    /// Number of earlier rows about the person that are no repeats, and one more where one that was
    /// set aside is earlier.
    uint32_t ordinal = 0;
    double p_approve = 0;  // P(approve | x) that was drawn from, as logged
    /// The day's exploration was used up, so that any policy would have decided without it.
    bool exploration_spent = false;
    double p_refer = 0;  // P(refer | x), likewise; 1: a rule refers
    domain::PolicyId policy;
    bool approved = false;         // drawn
    bool overridden = false;       // people did the other action; never of a referral
    bool referred = false;         // drawn, and then not approved
    std::optional<bool> answer{};  // to a referral: whether people granted it; nullopt: none yet
    bool censored = false;         // granted, and the last report says that no outcome will come
    std::optional<double> label;   // if granted: 1 favourable, 0 not; nullopt: none came
    std::optional<double> impact;  // if granted; nullopt: not granted, or not known
    std::optional<uint32_t> cell;  // index into cell_names; nullopt: attributes not (all) known
    std::vector<uint32_t> groups;  // indices into group_names, increasing; see LateAttributes

    bool granted() const { return referred ? answer.value_or(false) : approved != overridden; }
    /// Returns whether the label may be learnt from: the loan was granted because it was drawn so,
    /// with a known probability.
    bool is_training_example() const {
        return approved && !overridden && !repeat && label.has_value();
    }
};

/// How much of the development side a set has.
struct Extent {
    std::optional<base::TimePoint> from{};  // applications of then or later; nullopt: all
    size_t there = 0;                       // the side's matured decisions since then
    size_t read = 0;                        // all of these, or those of a sample of persons
    std::optional<uint64_t> seed{};         // the sample's; nullopt: all are read

    double share() const {
        return read < there ? static_cast<double>(read) / static_cast<double>(there) : 1;
    }
};

/// Which part of the development side is read.
struct DevelopmentRequest {
    std::optional<base::TimePoint> from{};  // applications of then or later; nullopt: all
    /// Where there are more, a sample of whole persons (PersonSample) with at most so many.
    size_t max_rows = base::limits::kMaxRows;
    uint64_t seed = 0;  // the sample's
};

/// Rows of one side of the split, by event time, then decision id. The two sides are
/// different types without a conversion: a function of a DevelopmentSet cannot get the vault by
/// mistake.
template <class Side>
struct DecisionSet {
    base::TimePoint as_known_at;
    dataset::FeatureSchema schema;
    std::vector<Row> rows;
    std::vector<float> features;  // [rows][schema.size()], encoded
    std::vector<std::string> group_names, cell_names;
    size_t without_attributes = 0;  // rows without a cell
    LateAttributes late_attributes = LateAttributes::kMissing;
    size_t late = 0;     // rows whose attributes were others, or not known, when they were decided
    size_t repeats = 0;  // rows that are repeats
    /// Matured decisions that were made in a stopped period (of the development side all, also
    /// where its rows are a sample); of the vault also others that are no rows.
    std::vector<Omitted> omitted{};
    /// Decisions of the vault that were made by then, rows or not, in whatever way they are known:
    /// a count of its own. 0 in the development set.
    size_t known = 0;
    size_t unreadable = 0;      // records of decisions in quarantine, of either side
    Unexplained unexplained{};  // on both sides
    /// Those of this side, by event time: of a sample at least those of its persons. They are not
    /// among `omitted`.
    std::vector<SetAside> set_aside{};
    Extent extent{};              // for a development set; a part of one has that of the whole
    std::vector<bool> retired{};  // by feature: nothing is learnt from it; empty: from all
    /// SHA-256 over side, time, schema and, by decision id, id, versions of what was read, groups,
    /// and whether it is a repeat, a referral and its answer: the same digest is the same set.
    base::Digest digest;

    std::span<const float> features_of(size_t row) const {
        return std::span(features).subspan(row * schema.size(), schema.size());
    }
    /// Returns what is learnt from: missing, if the feature is retired.
    float learnt(size_t row, size_t feature) const {
        if (!retired.empty() && retired[feature]) return std::numeric_limits<float>::quiet_NaN();
        return features[row * schema.size() + feature];
    }
    size_t omitted_as(Omission why) const {
        return static_cast<size_t>(std::count_if(omitted.begin(), omitted.end(),
                                                 [why](const auto& o) { return o.why == why; }));
    }
};
using DevelopmentSet =
    DecisionSet<struct DevelopmentSide>;         // D_c in the ELF paper: training, selection
using VaultSet = DecisionSet<struct VaultSide>;  // D_f in the ELF paper: the gate alone

/// Marks repeats among the rows, besides those already marked, and sets ordinals, and which of
/// those that were set aside are later ones. Returns how many repeats there are.
size_t number_records(std::vector<Row>& rows, std::span<SetAside> set_aside = {});

/// Applicants of a period and their features, without actions, outcomes and protected attributes.
/// So it may contain all persons, vault or not, and results computed from it may be public.
struct ApplicantSet {
    dataset::FeatureSchema schema;
    std::vector<domain::PersonId> persons;  // [rows], by event time, then decision id
    std::vector<float> features;            // [rows][schema.size()], encoded
    Unexplained unexplained{};              // in the period, matured or not: not among them
};

/// Returns whether the person's rows are in the vault, which never changes: HMAC-SHA-256(salt,
/// person) lies in the upper 40 %.
bool in_vault(std::string_view split_salt, const domain::PersonId& person);

/// Returns the periods in which people had stopped a part of the service. A period that has begun
/// is never moved or taken away, so that a set as known at a time stays the same.
using StoppedPeriods = std::function<std::vector<domain::StoppedPeriod>()>;

/// Builds sets from the content of joiner and protected store; both must outlive it. Thread safe.
///
/// Features are encoded as decision::encode_row does, so that a training row is the row that was,
/// or would have been, served: what an application lacks counts as the schema says. A decision that
/// the schema does not explain is set aside (Unexplained), with a line in the log.
///
/// What was decided in a stopped period is no row, whatever it was: it is counted. It is still the
/// first decision of its window, so that later ones with its draw are repeats.
class TrainingSetBuilder {
  public:
    /// Errors: invalid_argument "bad_split_salt": under 16 bytes; "no_features": empty schema;
    /// validate(product)'s.
    static base::Result<TrainingSetBuilder> create(
        const joiner::OutcomeJoiner& joiner, const domain::Product& product,
        dataset::ServedSchema schema, const protected_attributes::ProtectedStore& store,
        std::string split_salt, LateAttributes late_attributes = LateAttributes::kMissing,
        StoppedPeriods stopped_periods = {});

    /// Returns the development set as known at `t`: decisions whose label had matured; with `from`
    /// only those about applications of that event time or later, whose outcomes alone are read.
    base::Result<DevelopmentSet> development_rows(
        base::TimePoint t, std::optional<base::TimePoint> from = std::nullopt) const;
    /// Returns a part of the development set as known at `t`, in the memory that the part needs,
    /// however much there is: like development_rows(t, request.from), but with more than max_rows
    /// it is a sample of persons, not an error. The same t, request and salt give the same set in
    /// every store with the same log.
    base::Result<DevelopmentSet> development_sample(base::TimePoint t,
                                                    const DevelopmentRequest& request) const;
    /// Returns the vault as known at `t`: decisions whose label and, if it is reported, impact had
    /// matured, so that an impact still to come is never taken for one that never came. With `from`
    /// decisions about applications before it are no rows, but counted (Omission::kTooOld), and
    /// their outcomes are not read.
    base::Result<VaultSet> vault_rows(base::TimePoint t,
                                      std::optional<base::TimePoint> from = std::nullopt) const;

    /// Called with person and event time of a row.
    using VaultVisitor = std::function<void(std::string_view person, base::TimePoint event_time)>;
    /// Visits the rows that vault_rows(t) returns, in their order, and among them the decisions
    /// that the schema does not explain, in memory that does not depend on how many there are.
    base::Status visit_vault(base::TimePoint t, const VaultVisitor& visit) const;

    /// What had matured of a decision: nothing, its label, or its impact as well.
    enum class Matured : uint8_t { kNothing, kLabel, kAll };
    using DecisionVisitor = std::function<void(const Row& row, Matured matured)>;
    /// Visits every decision of the development side that was made by `t` about an application of
    /// event time in [from, to), those made in stopped periods too, by event time: what is known of
    /// it at `t`. A row is a repeat if one before it, of that time, had its draw; it has no number.
    /// Takes the memory of some thousand rows, and of the draws of the time of three windows.
    base::Status visit_development(base::TimePoint t, base::TimePoint from, base::TimePoint to,
                                   const DecisionVisitor& visit) const;

    /// Returns the applicants with known decisions and event time in [from, to).
    base::Result<ApplicantSet> applicants(base::TimePoint from, base::TimePoint to) const;

    const dataset::FeatureSchema& schema() const { return schema_.features(); }
    const dataset::ServedSchema& served() const { return schema_; }
    const std::vector<std::string>& cell_names() const { return store_->catalog().cells(); }
    const std::vector<std::string>& group_names() const { return store_->catalog().groups(); }

  private:
    TrainingSetBuilder() = default;
    /// What is known of a decision's outcomes at a time.
    struct Known {
        const joiner::RowVersion* label = nullptr;
        const joiner::RowVersion* impact = nullptr;  // null: not matured, or not reported
    };
    template <class Side>
    struct Reading;
    Row make_row(const joiner::DecisionRow& stored, const Known& known, base::TimePoint t) const;
    bool reports_impact() const;
    template <class Side>
    std::optional<Known> known_of(const joiner::DecisionRow& stored, base::TimePoint t) const;
    template <class Side>
    base::Status take(const joiner::DecisionRow& stored, const Known& known,
                      Reading<Side>& reading) const;
    template <class Side>
    base::Status read_rows(Reading<Side>& reading) const;
    base::Status hand_over(std::vector<Row>& rows, std::vector<Matured>& matured,
                           const DecisionVisitor& visit) const;
    template <class Side>
    base::Status mark_repeats(Reading<Side>& reading) const;
    template <class Side>
    base::Status set_groups(Reading<Side>& reading) const;
    template <class Side>
    base::Result<DecisionSet<Side>> build(base::TimePoint t, const DevelopmentRequest* sample,
                                          std::optional<base::TimePoint> from) const;
    const joiner::OutcomeJoiner* joiner_ = nullptr;
    const protected_attributes::ProtectedStore* store_ = nullptr;
    domain::Product product_;
    dataset::ServedSchema schema_;
    std::string split_salt_;
    LateAttributes late_attributes_ = LateAttributes::kMissing;
    StoppedPeriods stopped_periods_;  // empty: there are none
};

enum class GroupBy {
    kNone,   // Dataset::group stays empty
    kCells,  // group = cell; rows without a cell are left out
};

/// What is learnt.
enum class LearnFrom {
    kLabel,   // Dataset::label: 0 or 1
    kImpact,  // Dataset::target: the impact; rows whose impact is not known are left out
};

struct DatasetOptions {
    double weight_cap = 20;  // weight = min(1 / p_approve, cap); >= 1
    GroupBy groups = GroupBy::kNone;
    LearnFrom learn = LearnFrom::kLabel;
};

/// Result of to_dataset and the rows that it left out.
struct TrainingTable {
    dataset::Dataset data;
    std::vector<uint32_t> rows;  // data's row i is set.rows[rows[i]]
    size_t capped_weights = 0;   // rows whose weight was cut to the cap
    size_t left_out_repeats = 0;
    size_t left_out_declined = 0;
    size_t left_out_referred = 0;        // whatever people answered: P(granted | x) is not known
    size_t left_out_overridden = 0;      // people did the other action: P(granted | x) is not known
    size_t left_out_censored = 0;        // approved, no outcome will come
    size_t left_out_unlabelled = 0;      // approved, no outcome came
    size_t left_out_without_impact = 0;  // approved, labelled, but no impact came
    size_t left_out_without_group = 0;   // approved, labelled, but without attributes
    std::vector<std::string> empty_groups;  // cells without a row: not among data.group_names
};

/// Returns approved, granted and labelled rows as a table to learn from, weighted so that they
/// stand for all applicants (inverse propensity: only approved ones have labels). Errors:
/// out_of_range "bad_weight_cap"; failed_precondition "no_training_rows": none is left;
/// dataset::validate's errors, of impacts dataset::validate_numeric's.
base::Result<TrainingTable> to_dataset(const DevelopmentSet& set,
                                       const DatasetOptions& options = {});

}  // namespace rampart::training_set
