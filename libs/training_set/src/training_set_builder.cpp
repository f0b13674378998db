#include "rampart/training_set/training_set_builder.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "rampart/base/bytes.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/training_set/person_sample.hpp"
#include "rampart/training_set/reasons.hpp"

namespace rampart::training_set {

namespace limits = base::limits;
using base::Result;
using base::Status;
using base::TimePoint;
using domain::LabeledExample;

namespace {

constexpr size_t kMinSaltBytes = 16;

/// Returns the application with the schema's features, and null for those that it lacks.
domain::Application fit_to(const dataset::FeatureSchema& schema,
                           const domain::Application& application) {
    std::map<std::string_view, const domain::FeatureValue*> given;
    for (const auto& feature : application.features) given.emplace(feature.name, &feature.value);
    domain::Application fitted{application.id, application.person, application.event_time, {}};
    for (const auto& spec : schema.features()) {
        const auto it = given.find(spec.name);
        fitted.features.push_back(
            {spec.name, it == given.end() ? domain::FeatureValue() : *it->second});
    }
    return fitted;
}

constexpr uint8_t kOverriddenFlag = 1, kCensoredFlag = 2, kRepeatFlag = 4, kReferredFlag = 8,
                  kAnsweredFlag = 16, kGrantedFlag = 32;

uint8_t flags_of(const Row& row) {
    return static_cast<uint8_t>(
        (row.overridden ? kOverriddenFlag : 0) | (row.censored ? kCensoredFlag : 0) |
        (row.referred ? kReferredFlag : 0) | (row.answer ? kAnsweredFlag : 0) |
        (row.answer.value_or(false) ? kGrantedFlag : 0));
}

/// Appends the bytes that identify one row in the digest.
std::string identify(const Row& row, uint32_t label_version,
                     const std::optional<joiner::OutcomeJoiner::SecondValue>& impact) {
    std::string out;
    base::append_field(out, row.decision.value());
    base::append_u32(out, label_version);
    base::append_u8(out, impact ? 1 : 0);
    base::append_u32(out, impact ? impact->version : 0);
    base::append_u8(out, row.cell ? 1 : 0);
    base::append_u32(out, row.cell.value_or(0));
    base::append_u32(out, static_cast<uint32_t>(row.groups.size()));
    for (const uint32_t group : row.groups) base::append_u32(out, group);
    if (const uint8_t flags = flags_of(row); flags != 0) base::append_u8(out, flags);
    return out;
}

/// Returns what the draws of two decisions have in common if they are one.
std::string draw_of(const domain::PersonId& person, const domain::DrawWindow& window) {
    std::string out;
    base::append_field(out, person.value());
    base::append_field(out, window.product);
    base::append_u32(out, static_cast<uint32_t>(window.cool_off_days));
    base::append_i64(out, window.number);
    return out;
}

/// The first row of each draw.
class Firsts {
  public:
    explicit Firsts(std::vector<Row>& rows) {
        for (Row& row : rows) {
            if (!row.window) continue;
            Row*& first = rows_.emplace(draw_of(row.person, *row.window), &row).first->second;
            if (is_before(row.decided_at, row.decision, *first)) first = &row;
        }
    }
    bool empty() const { return rows_.empty(); }
    /// Marks the first row of the decision's draw as a repeat, if the decision came before it.
    void mark(const domain::Decision& decision) {
        if (!decision.draw_window || empty()) return;
        const auto found = rows_.find(draw_of(decision.application.person, *decision.draw_window));
        if (found != rows_.end() && is_before(decision.decided_at, decision.id, *found->second))
            found->second->repeat = true;
    }

  private:
    static bool is_before(base::TimePoint time, const domain::DecisionId& id, const Row& row) {
        return std::tie(time, id) < std::tie(row.decided_at, row.decision);
    }
    std::unordered_map<std::string, Row*> rows_;
};

template <class Side>
base::Digest digest_of(const DecisionSet<Side>& set, std::vector<std::string> rows) {
    std::sort(rows.begin(), rows.end());
    base::Sha256 hash;
    hash.update_field(std::is_same_v<Side, VaultSide> ? "vault" : "development");
    std::string time;
    base::append_i64(time, set.as_known_at.micros());
    hash.update_field(time);
    hash.update_field(set.schema.digest().hex());
    for (const auto& row : rows) hash.update_field(row);
    return hash.finish();
}

/// Takes the elements out for whose index `keep` is false; each has `width` numbers in its row.
template <class T, class Keep>
void keep_only(std::vector<T>& list, size_t width, const Keep& keep) {
    size_t to = 0;
    for (size_t i = 0; i * width < list.size(); ++i) {
        if (!keep(i)) continue;
        if (to != i)
            std::move(list.begin() + static_cast<ptrdiff_t>(i * width),
                      list.begin() + static_cast<ptrdiff_t>((i + 1) * width),
                      list.begin() + static_cast<ptrdiff_t>(to * width));
        ++to;
    }
    list.erase(list.begin() + static_cast<ptrdiff_t>(to * width), list.end());
}

}  // namespace

/// A set that is being read. Rows of persons who have left the sample meanwhile are taken out when
/// they are a quarter of all, so that each is moved a few times.
template <class Side>
struct TrainingSetBuilder::Reading {
    static constexpr size_t kFewRows = 64;

    DecisionSet<Side> set;
    std::optional<TimePoint> from;
    std::vector<domain::StoppedPeriod> stopped;
    std::unordered_set<std::string> stopped_ids;
    std::optional<PersonSample> sample;
    std::vector<std::string> identities;  // one of each row, as are late and places
    std::vector<uint8_t> late;
    std::vector<double> places;  // empty without a sample

    /// Is called where the sample has counted a row that the set does not have yet.
    void take_out_if_many() {
        const size_t out = set.rows.size() + 1 - sample->rows();
        if (out > std::max(kFewRows, set.rows.size() / 4)) take_out();
    }
    void take_out() {
        const auto keep = [this](size_t i) { return sample->holds(places[i]); };
        keep_only(set.rows, 1, keep);
        keep_only(set.features, set.schema.size(), keep);
        keep_only(identities, 1, keep);
        keep_only(late, 1, keep);
        std::erase_if(places, [this](double place) { return !sample->holds(place); });
    }
};

std::string_view to_string(Omission why) {
    switch (why) {
        case Omission::kEarlierEpoch:
            return "earlier_epoch";
        case Omission::kTooOld:
            return "too_old";
        case Omission::kImmature:
            return "immature";
        case Omission::kStopped:
            return "stopped";
        case Omission::kRepeat:
            return "repeat";
        case Omission::kLaterRecord:
            return "later_record";
        case Omission::kUndecidable:
            return "undecidable";
        case Omission::kErased:
            return "erased";
        case Omission::kQuarantined:
            return "quarantined";
    }
    return "unknown";
}

bool in_vault(std::string_view split_salt, const domain::PersonId& person) {
    return base::keyed_uniform(split_salt, person.value()) >= 1 - kVaultShare;
}

size_t number_records(std::vector<Row>& rows) {
    std::vector<size_t> order(rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const Row &one = rows[a], &other = rows[b];
        return std::tie(one.decided_at, one.decision) < std::tie(other.decided_at, other.decision);
    });
    std::unordered_map<std::string_view, uint32_t> seen;
    std::unordered_set<std::string> draws;
    size_t repeats = 0;
    for (const size_t i : order) {
        Row& row = rows[i];
        if (row.window && !draws.insert(draw_of(row.person, *row.window)).second) row.repeat = true;
        uint32_t& before = seen[row.person.value()];
        row.ordinal = before;
        before += row.repeat ? 0 : 1;
        repeats += row.repeat ? 1 : 0;
    }
    return repeats;
}

Result<TrainingSetBuilder> TrainingSetBuilder::create(
    const joiner::OutcomeJoiner& joiner, const domain::Product& product,
    dataset::FeatureSchema schema, const protected_attributes::ProtectedStore& store,
    std::string split_salt, LateAttributes late_attributes, StoppedPeriods stopped_periods) {
    RAMPART_RETURN_IF_ERROR(domain::validate(product));
    if (schema.size() == 0) {
        return base::make_error(dataset::Reason::kNoFeatures,
                                "the feature schema has no features; name at least one");
    }
    if (split_salt.size() < kMinSaltBytes) {
        return base::make_error(Reason::kBadSplitSalt,
                                "the split salt has {} bytes; {} or more are needed, so "
                                "that the persons of the vault cannot be guessed",
                                split_salt.size(), kMinSaltBytes);
    }
    TrainingSetBuilder builder;
    builder.joiner_ = &joiner;
    builder.store_ = &store;
    builder.product_ = product;
    builder.schema_ = std::move(schema);
    builder.split_salt_ = std::move(split_salt);
    builder.late_attributes_ = late_attributes;
    builder.stopped_periods_ = std::move(stopped_periods);
    return builder;
}

Result<Row> TrainingSetBuilder::make_row(const LabeledExample& example,
                                         std::optional<double> reported_impact) const {
    const auto& decision = example.decision;
    Row row;
    row.decision = decision.id;
    row.person = decision.application.person;
    row.event_time = decision.application.event_time;
    row.decided_at = decision.decided_at;
    row.window = decision.draw_window;
    row.p_approve = decision.p_approve;
    row.exploration_spent = decision.exploration_spent;
    row.policy = decision.policy;
    row.approved = decision.action == domain::Action::kApprove;
    row.p_refer = decision.p_refer;
    row.referred = decision.action == domain::Action::kRefer;
    const bool changed = example.action_taken() != decision.action;
    row.overridden = changed && !row.referred;
    if (changed && row.referred) row.answer = example.action_taken() == domain::Action::kApprove;
    if (row.granted()) {
        row.censored = example.censored;
        row.label = example.value;
        row.impact = domain::impact_of_approval(product_.impact, row.label, reported_impact);
    }
    return row;
}

/// Sets cell and groups; true: what was known of them then is not what is known now.
Result<bool> TrainingSetBuilder::set_groups(Row& row, base::TimePoint decided_at) const {
    RAMPART_TRY(auto known_now, store_->membership(row.person));
    RAMPART_TRY(auto known_then, store_->membership_at(row.person, decided_at));
    const bool late = known_now != known_then;
    auto& counts = late_attributes_ == LateAttributes::kAssumed ? known_now : known_then;
    row.cell = counts.cell;
    row.groups = std::move(counts.groups);
    return late;
}

Result<std::vector<uint32_t>> TrainingSetBuilder::groups_of(
    const domain::Decision& decision) const {
    Row row;
    row.person = decision.application.person;
    RAMPART_RETURN_IF_ERROR(set_groups(row, decision.decided_at));
    return std::move(row.groups);
}

/// Counts a decision of the vault that was made by then; one that is neither a row nor stopped has
/// not matured, or lies before the begin of the set.
Status TrainingSetBuilder::count_other(const domain::Decision& decision, bool has_matured,
                                       std::optional<TimePoint> from, VaultSet& set) const {
    if (!in_vault(split_salt_, decision.application.person)) return base::ok();
    if (!has_matured && decision.decided_at > set.as_known_at) return base::ok();
    ++set.known;
    if (has_matured) return base::ok();
    const auto event_time = decision.application.event_time;
    const bool too_old = from && event_time < *from;
    RAMPART_TRY(auto groups, groups_of(decision));
    set.omitted.push_back(
        {event_time, too_old ? Omission::kTooOld : Omission::kImmature, std::move(groups)});
    return base::ok();
}

/// Reads all decisions, those that the set does not have among them: marks repeats of one whose
/// event time may be the later one, so that it has not matured, or lies before the set's begin; and
/// counts those of the vault.
template <class Side>
Status TrainingSetBuilder::read_others(Reading<Side>& reading) const {
    constexpr bool kVault = std::is_same_v<Side, VaultSide>;
    auto& set = reading.set;
    Firsts firsts(set.rows);
    if (!kVault && firsts.empty()) return base::ok();
    std::unordered_set<std::string_view> matured(reading.stopped_ids.begin(),
                                                 reading.stopped_ids.end());
    if (kVault)
        for (const Row& row : set.rows) matured.insert(row.decision.value());
    const auto look = [&](const domain::Decision& decision) -> Status {
        firsts.mark(decision);
        if constexpr (kVault)
            return count_other(decision, matured.contains(decision.id.value()), reading.from, set);
        return base::ok();
    };
    return joiner_->decisions(base::kFirstTime, base::kLastTime + base::Duration::micros(1), look);
}

/// Takes an example into the set, if it is of its side and, where there is a sample, in that.
template <class Side>
Status TrainingSetBuilder::take(const LabeledExample& example,
                                const std::optional<SecondValue>& impact, bool reported,
                                Reading<Side>& reading) const {
    constexpr bool kVault = std::is_same_v<Side, VaultSide>;
    auto& set = reading.set;
    const auto& application = example.decision.application;
    if (in_vault(split_salt_, application.person) != kVault) return base::ok();
    if (kVault && reported && !impact) return base::ok();  // still to come
    if (domain::is_stopped(reading.stopped, example.decision.decided_at)) {
        RAMPART_TRY(auto groups, groups_of(example.decision));
        set.omitted.push_back({application.event_time, Omission::kStopped, std::move(groups)});
        reading.stopped_ids.insert(example.decision.id.value());
        return base::ok();
    }
    if (reading.sample) {
        const double place = reading.sample->place_of(application.person);
        const bool in = reading.sample->add(place);
        reading.take_out_if_many();
        if (!in) return base::ok();
        reading.places.push_back(place);
    } else if (set.rows.size() == limits::kMaxRows) {
        return base::make_error(dataset::Reason::kTooManyRows, "more than {} matured decisions{}",
                                limits::kMaxRows,
                                kVault ? " in the vault; set gate.max_age_months" : "");
    }
    RAMPART_TRY(Row row, make_row(example, reported ? (impact ? impact->value : std::nullopt)
                                                    : example.value));
    RAMPART_TRY(const bool late, set_groups(row, example.decision.decided_at));
    const auto features = decision::encode_row(fit_to(schema_, application), schema_);
    if (!features) return features.error().with_context(fmt::format("decision '{}'", row.decision));
    set.features.insert(set.features.end(), features->begin(), features->end());
    reading.late.push_back(late ? 1 : 0);
    reading.identities.push_back(identify(row, example.version, impact));
    set.rows.push_back(std::move(row));
    return base::ok();
}

/// Reads the examples with what is reported of the impact, in one pass.
template <class Side>
Status TrainingSetBuilder::read_examples(Reading<Side>& reading) const {
    const auto& measure = product_.impact.measure;
    const TimePoint t = reading.set.as_known_at;
    if (!measure || *measure == product_.label.name) {
        const auto add = [&](const LabeledExample& example) {
            return take(example, std::nullopt, false, reading);
        };
        return joiner_->examples(product_.label.name, t, add, reading.from);
    }
    const auto add = [&](const LabeledExample& example, const std::optional<SecondValue>& impact) {
        return take(example, impact, true, reading);
    };
    return joiner_->paired_examples(product_.label.name, *measure, t, add, reading.from);
}

template <class Side>
Result<DecisionSet<Side>> TrainingSetBuilder::build(TimePoint t, const DevelopmentRequest* sample,
                                                    std::optional<TimePoint> from) const {
    Reading<Side> reading;
    auto& set = reading.set;
    set.as_known_at = t;
    set.schema = schema_;
    set.group_names = store_->catalog().groups();
    set.cell_names = store_->catalog().cells();
    set.late_attributes = late_attributes_;
    reading.from = from;
    if (stopped_periods_) reading.stopped = stopped_periods_();
    if (sample != nullptr)
        reading.sample.emplace(PersonSample::key_of(split_salt_, sample->seed),
                               std::min(sample->max_rows, limits::kMaxRows));
    RAMPART_RETURN_IF_ERROR(read_examples(reading));
    if (reading.sample) reading.take_out();
    RAMPART_RETURN_IF_ERROR(read_others(reading));
    set.repeats = number_records(set.rows);
    set.late = static_cast<size_t>(std::count(reading.late.begin(), reading.late.end(), 1));
    for (size_t i = 0; i < set.rows.size(); ++i) {
        set.without_attributes += set.rows[i].cell ? 0 : 1;
        if (set.rows[i].repeat) base::append_u8(reading.identities[i], kRepeatFlag);
    }
    set.digest = digest_of(set, std::move(reading.identities));
    if constexpr (std::is_same_v<Side, VaultSide>) {
        RAMPART_TRY(set.unreadable, joiner_->unread_decisions(t));
    } else {
        const size_t there = reading.sample ? reading.sample->rows_there() : set.rows.size();
        set.extent = {from, there, set.rows.size(), std::nullopt};
        if (set.rows.size() < there) set.extent.seed = sample->seed;
    }
    return std::move(set);
}

Result<DevelopmentSet> TrainingSetBuilder::development_rows(
    base::TimePoint t, std::optional<base::TimePoint> from) const {
    return build<DevelopmentSide>(t, nullptr, from);
}

Result<DevelopmentSet> TrainingSetBuilder::development_sample(
    TimePoint t, const DevelopmentRequest& request) const {
    return build<DevelopmentSide>(t, &request, request.from);
}

Result<ApplicantSet> TrainingSetBuilder::applicants(base::TimePoint from,
                                                    base::TimePoint to) const {
    ApplicantSet set{schema_, {}, {}};
    const auto add = [&](const domain::Decision& decision) -> Status {
        if (set.persons.size() == limits::kMaxRows) {
            return base::make_error(dataset::Reason::kTooManyRows,
                                    "more than {} decisions from {} to {}", limits::kMaxRows,
                                    base::to_iso8601(from), base::to_iso8601(to));
        }
        const auto features = decision::encode_row(fit_to(schema_, decision.application), schema_);
        if (!features)
            return features.error().with_context(fmt::format("decision '{}'", decision.id));
        set.features.insert(set.features.end(), features->begin(), features->end());
        set.persons.push_back(decision.application.person);
        return base::ok();
    };
    RAMPART_RETURN_IF_ERROR(joiner_->decisions(from, to, add));
    return set;
}

Result<VaultSet> TrainingSetBuilder::vault_rows(TimePoint t, std::optional<TimePoint> from) const {
    return build<VaultSide>(t, nullptr, from);
}

}  // namespace rampart::training_set
