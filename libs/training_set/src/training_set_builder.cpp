#include "rampart/training_set/training_set_builder.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <type_traits>

#include "feature_columns.hpp"
#include "open_draws.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/keyed_hash.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/training_set/person_sample.hpp"
#include "rampart/training_set/reasons.hpp"
#include "row_draws.hpp"

namespace rampart::training_set {

namespace limits = base::limits;
using base::Result;
using base::Status;
using base::TimePoint;
using joiner::DecisionRow;
using joiner::RowPart;

namespace {

constexpr base::Logger kLog("training_set");
constexpr size_t kMinSaltBytes = 16;
constexpr size_t kRowsAtOnce = 4096;  // whose groups are read together, where rows are handed on
constexpr double kFirstHeldOut = 1 - kVaultShare;  // hashes of persons from it on are the vault's
constexpr auto kAfterLast = base::kLastTime + base::Duration::micros(1);

// how far the clock that dated a stop's referral may be from the one that dated the stop
constexpr auto kEdge = base::Duration::seconds(60);

constexpr uint8_t kOverriddenFlag = 1, kCensoredFlag = 2, kRepeatFlag = 4, kReferredFlag = 8,
                  kAnsweredFlag = 16, kGrantedFlag = 32;

uint8_t flags_of(const Row& row) {
    return static_cast<uint8_t>(
        (row.overridden ? kOverriddenFlag : 0) | (row.censored ? kCensoredFlag : 0) |
        (row.referred ? kReferredFlag : 0) | (row.answer ? kAnsweredFlag : 0) |
        (row.answer.value_or(false) ? kGrantedFlag : 0));
}

/// The versions of what was read for a row, and the place of its person in the sample.
struct Versions {
    uint32_t label = 0;
    std::optional<uint32_t> impact;  // where an impact is reported
    double place = 0;
};

/// Sets `out` to the bytes that identify one row in the digest.
void identify(const Row& row, const Versions& read, std::string& out) {
    out.clear();
    base::append_field(out, row.decision.value());
    base::append_u32(out, read.label);
    base::append_u8(out, read.impact ? 1 : 0);
    base::append_u32(out, read.impact.value_or(0));
    base::append_u8(out, row.cell ? 1 : 0);
    base::append_u32(out, row.cell.value_or(0));
    base::append_u32(out, static_cast<uint32_t>(row.groups.size()));
    for (const uint32_t group : row.groups) base::append_u32(out, group);
    if (const uint8_t flags = flags_of(row); flags != 0) base::append_u8(out, flags);
    if (row.repeat) base::append_u8(out, kRepeatFlag);
}

template <class Side>
base::Digest digest_of(const DecisionSet<Side>& set, const std::vector<Versions>& read) {
    std::vector<size_t> order(set.rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    // in the order of the bytes, which begin with the length of the decision's id
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const auto &one = set.rows[a].decision.value(), &other = set.rows[b].decision.value();
        return one.size() != other.size() ? one.size() < other.size() : one < other;
    });
    base::Sha256 hash;
    hash.update_field(std::is_same_v<Side, VaultSide> ? "vault" : "development");
    std::string bytes;
    base::append_i64(bytes, set.as_known_at.micros());
    hash.update_field(bytes);
    hash.update_field(set.schema.digest().hex());
    for (const size_t i : order) {
        identify(set.rows[i], read[i], bytes);
        hash.update_field(bytes);
    }
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

/// Returns whether a person is in the vault: in_vault() with the hash of the split's salt.
bool is_held_out(const base::KeyedHash& split, std::string_view person) {
    return split.uniform(person) >= kFirstHeldOut;
}

/// Returns whether a stop holds a decision. That it is a stop's referral shows in the record, so
/// that one of the edges, which another clock dates outside of the period, is held, too: nothing
/// else refers all, and it has no draw that could have a part in it.
bool is_stopped(std::span<const domain::StoppedPeriod> periods, const DecisionRow& stored) {
    if (domain::is_stopped(periods, stored.decided_at)) return true;
    if (stored.p_refer < 1) return false;
    return std::any_of(periods.begin(), periods.end(), [&](const auto& period) {
        return period.kind == domain::StopKind::kReferAll &&
               stored.decided_at >= period.from - kEdge &&
               (!period.to || stored.decided_at < *period.to + kEdge);
    });
}

void add(Unexplained& to, const base::Error& why) {
    if (to.decisions++ == 0) to.why = why.message;
}

/// Writes to the log that decisions were set aside, if some were.
void warn(const Unexplained& unexplained) {
    if (unexplained.decisions == 0) return;
    kLog.error(
        "msg=\"decisions of another schema file are set aside\" decisions={} reason={} "
        "why=\"{}\" runbook=ops/guide/schema_changes/README.md",
        unexplained.decisions, dataset::reason_info(dataset::Reason::kSchemaNotCarried).word,
        unexplained.why);
}

SetAside aside_of(const DecisionRow& stored) {
    return {domain::PersonId(std::string(stored.person)),
            domain::DecisionId(std::string(stored.id)),
            stored.event_time,
            stored.decided_at,
            {},
            false};
}

/// Decisions that are no rows, and who they are about.
struct Others {
    std::vector<Omitted> omitted;
    std::vector<std::pair<std::string, TimePoint>> persons;  // with the times of the decisions

    void add(const DecisionRow& stored, Omission why) {
        omitted.push_back({stored.event_time, why, {}});
        persons.emplace_back(stored.person, stored.decided_at);
    }
};

}  // namespace

/// A set that is being read. Rows of persons who have left the sample meanwhile are taken out when
/// they are a quarter of all, so that each is moved a few times.
template <class Side>
struct TrainingSetBuilder::Reading {
    static constexpr size_t kFewRows = 64;

    DecisionSet<Side> set;
    std::optional<TimePoint> from;
    std::vector<domain::StoppedPeriod> stopped;
    std::optional<PersonSample> sample;
    std::vector<Versions> read;  // one of each row
    Others in_stops, others;     // others: of the vault alone
    OtherDraws draws;            // those of decisions that are no rows
    FeatureColumns columns;
    std::vector<float> row;  // that is looked at

    explicit Reading(const dataset::ServedSchema& schema) : columns(schema) {}

    /// Returns whether the person may have rows.
    bool may_hold(std::string_view person) const {
        return !sample || sample->holds(sample->place_of(person));
    }
    /// Notes the draw of a decision that is no row, if its person may have rows.
    void note(const DecisionRow& stored) {
        if (may_hold(stored.person)) draws.add(stored);
    }
    /// Sets `row` to the features, or counts a decision that the schema does not explain.
    bool explains(const DecisionRow& stored) {
        row.clear();
        const auto encoded = columns.append(stored, row);
        if (!encoded) add(set.unexplained, encoded.error());
        return encoded.has_value();
    }
    /// Is called where the sample has counted a row that the set does not have yet.
    void take_out_if_many() {
        const size_t out = set.rows.size() + 1 - sample->rows();
        if (out > std::max(kFewRows, set.rows.size() / 4)) take_out();
    }
    void take_out() {
        const auto keep = [this](size_t i) { return sample->holds(read[i].place); };
        keep_only(set.rows, 1, keep);
        keep_only(set.features, set.schema.size(), keep);
        std::erase_if(read, [this](const Versions& one) { return !sample->holds(one.place); });
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
        case Omission::kOtherSchema:
            return "other_schema";
    }
    return "unknown";
}

bool in_vault(std::string_view split_salt, const domain::PersonId& person) {
    return base::keyed_uniform(split_salt, person.value()) >= kFirstHeldOut;
}

size_t number_records(std::vector<Row>& rows, std::span<SetAside> set_aside) {
    std::unordered_map<std::string_view, SetAside*> aside;  // the first of each person
    for (SetAside& one : set_aside) {
        one.later = true;
        SetAside*& first = aside.emplace(one.person.value(), &one).first->second;
        if (std::tie(one.decided_at, one.decision) < std::tie(first->decided_at, first->decision))
            first = &one;
    }
    for (const auto& [person, first] : aside) first->later = false;
    const auto comes_after = [&](const Row& row) {
        const auto found = aside.find(row.person.value());
        if (found == aside.end()) return false;
        SetAside& first = *found->second;
        const bool after =
            std::tie(first.decided_at, first.decision) < std::tie(row.decided_at, row.decision);
        if (!after && !row.repeat) first.later = true;
        return after;
    };
    std::vector<size_t> order(rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto earlier = [&](size_t a, size_t b) {
        return std::tie(rows[a].decided_at, rows[a].decision) <
               std::tie(rows[b].decided_at, rows[b].decision);
    };
    // most often they are decided in the order of event times
    if (!std::is_sorted(order.begin(), order.end(), earlier))
        std::sort(order.begin(), order.end(), earlier);
    std::unordered_map<std::string_view, uint32_t> seen(rows.size());
    std::unordered_set<DrawKey, HashOfDraw> draws(rows.size());
    size_t repeats = 0;
    for (const size_t i : order) {
        Row& row = rows[i];
        if (row.window && !draws.insert(draw_of(row)).second) row.repeat = true;
        uint32_t& before = seen[row.person.value()];
        row.ordinal = before + (!aside.empty() && comes_after(row) ? 1 : 0);
        before += row.repeat ? 0 : 1;
        repeats += row.repeat ? 1 : 0;
    }
    return repeats;
}

Result<TrainingSetBuilder> TrainingSetBuilder::create(
    const joiner::OutcomeJoiner& joiner, const domain::Product& product,
    dataset::ServedSchema schema, const protected_attributes::ProtectedStore& store,
    std::string split_salt, LateAttributes late_attributes, StoppedPeriods stopped_periods) {
    RAMPART_RETURN_IF_ERROR(domain::validate(product));
    if (schema.features().size() == 0) {
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

Row TrainingSetBuilder::make_row(const DecisionRow& stored, const Known& known, TimePoint t) const {
    Row row;
    row.decision = domain::DecisionId(std::string(stored.id));
    row.person = domain::PersonId(std::string(stored.person));
    row.event_time = stored.event_time;
    row.decided_at = stored.decided_at;
    if (const auto& shape = *stored.shape; shape.cool_off_days > 0)
        row.window = {shape.product, shape.cool_off_days, stored.window};
    row.p_approve = stored.p_approve;
    row.exploration_spent = stored.exploration_spent;
    row.policy = domain::PolicyId(std::string(stored.policy));
    row.approved = stored.action == domain::Action::kApprove;
    row.p_refer = stored.p_refer;
    row.referred = stored.action == domain::Action::kRefer;
    const auto* taken = stored.taken_as_known_at(t);
    const auto action = taken != nullptr ? taken->action : stored.action;
    const bool changed = action != stored.action;
    row.overridden = changed && !row.referred;
    if (changed && row.referred) row.answer = action == domain::Action::kApprove;
    if (row.granted() && known.label != nullptr) {
        row.censored = known.label->censored;
        row.label = known.label->value;
        const auto* reported = reports_impact() ? known.impact : known.label;
        row.impact = domain::impact_of_approval(
            product_.impact, row.label, reported != nullptr ? reported->value : std::nullopt);
    }
    return row;
}

bool TrainingSetBuilder::reports_impact() const {
    const auto& measure = product_.impact.measure;
    return measure && *measure != product_.label.name;
}

/// Returns what is known of a decision's outcomes at `t`; nullopt: it is no row of the side then.
template <class Side>
std::optional<TrainingSetBuilder::Known> TrainingSetBuilder::known_of(const DecisionRow& stored,
                                                                      TimePoint t) const {
    Known known{stored.as_known_at(product_.label.name, t), nullptr};
    if (known.label == nullptr) return std::nullopt;
    if (!reports_impact()) return known;
    known.impact = stored.as_known_at(*product_.impact.measure, t);
    if (std::is_same_v<Side, VaultSide> && known.impact == nullptr)
        return std::nullopt;  // still to come
    return known;
}

/// Takes a row into the set, if the schema explains it and it is in the sample, where there is one.
template <class Side>
Status TrainingSetBuilder::take(const DecisionRow& stored, const Known& known,
                                Reading<Side>& reading) const {
    constexpr bool kVault = std::is_same_v<Side, VaultSide>;
    auto& set = reading.set;
    if (!reading.explains(stored)) {
        reading.note(stored);
        if (reading.may_hold(stored.person)) set.set_aside.push_back(aside_of(stored));
        return base::ok();
    }
    double place = 0;
    if (reading.sample) {
        place = reading.sample->place_of(stored.person);
        const bool in = reading.sample->add(place);
        reading.take_out_if_many();
        if (!in) return base::ok();
    } else if (set.rows.size() == limits::kMaxRows) {
        return base::make_error(dataset::Reason::kTooManyRows, "more than {} matured decisions{}",
                                limits::kMaxRows,
                                kVault ? " in the vault; set gate.max_age_months" : "");
    }
    set.features.insert(set.features.end(), reading.row.begin(), reading.row.end());
    const auto impact =
        known.impact != nullptr ? std::optional(known.impact->version) : std::optional<uint32_t>();
    reading.read.push_back({known.label->version, impact, place});
    set.rows.push_back(make_row(stored, known, set.as_known_at));
    return base::ok();
}

/// Reads the rows of the side, counts the vault's decisions that are none, and of both sides those
/// that the schema does not explain, in one pass.
template <class Side>
Status TrainingSetBuilder::read_rows(Reading<Side>& reading) const {
    constexpr bool kVault = std::is_same_v<Side, VaultSide>;
    auto& set = reading.set;
    const TimePoint from = reading.from.value_or(base::kFirstTime);
    const base::KeyedHash split(split_salt_);
    const auto look = [&](const DecisionRow& stored) -> Status {
        const bool other_side = is_held_out(split, stored.person) != kVault;
        auto known = stored.event_time < from ? std::optional<Known>()
                                              : known_of<Side>(stored, set.as_known_at);
        if (other_side) {
            if (known && !is_stopped(reading.stopped, stored)) reading.explains(stored);
            return base::ok();
        }
        if (!known) {
            if (stored.decided_at > set.as_known_at) return base::ok();
            reading.note(stored);
            if (!kVault) return base::ok();
            ++set.known;
            const bool too_old = stored.event_time < from;
            reading.others.add(stored, too_old ? Omission::kTooOld : Omission::kImmature);
            return base::ok();
        }
        if (kVault) ++set.known;
        if (!is_stopped(reading.stopped, stored)) return take(stored, *known, reading);
        reading.note(stored);
        reading.in_stops.add(stored, Omission::kStopped);
        return base::ok();
    };
    return joiner_->rows(kVault ? base::kFirstTime : from, kAfterLast, RowPart::kAll, look);
}

/// Marks repeats of a decision that the set does not have: its event time may be the later one, so
/// that it has not matured, or lie before the set's begin, or in a stopped period.
template <class Side>
Status TrainingSetBuilder::mark_repeats(Reading<Side>& reading) const {
    FirstOfDraws firsts(reading.set.rows);
    if (firsts.empty()) return base::ok();
    reading.draws.each([&](const auto& draw, TimePoint decided_at, std::string_view id) {
        firsts.mark(draw, decided_at, id);
    });
    if (std::is_same_v<Side, VaultSide> || !reading.from) return base::ok();  // all were read
    return joiner_->rows(base::kFirstTime, *reading.from, RowPart::kHead,
                         [&](const DecisionRow& stored) -> Status {
                             if (stored.shape->cool_off_days > 0)
                                 firsts.mark(draw_of(stored), stored.decided_at, stored.id);
                             return base::ok();
                         });
}

/// Sets cell and groups of rows, and groups of decisions that are none; counts rows of which what
/// was known then is not what is known now.
template <class Side>
Status TrainingSetBuilder::set_groups(Reading<Side>& reading) const {
    auto& set = reading.set;
    Others& others = reading.in_stops;
    const auto all = [](auto& list, auto& more) {
        std::move(more.begin(), more.end(), std::back_inserter(list));
    };
    all(others.omitted, reading.others.omitted);
    all(others.persons, reading.others.persons);
    set.omitted = std::move(others.omitted);
    std::vector<protected_attributes::ProtectedStore::PersonAt> asked;
    asked.reserve(set.rows.size() + set.set_aside.size() + others.persons.size());
    for (const Row& row : set.rows) asked.push_back({row.person.value(), row.decided_at});
    for (const auto& one : set.set_aside) asked.push_back({one.person.value(), one.decided_at});
    for (const auto& [person, at] : others.persons) asked.push_back({person, at});
    return store_->visit_memberships(asked, [&](size_t i, const auto& now, const auto& then) {
        const auto& counts = late_attributes_ == LateAttributes::kAssumed ? now : then;
        if (i >= set.rows.size()) {
            const size_t other = i - set.rows.size(), aside = set.set_aside.size();
            auto& groups =
                other < aside ? set.set_aside[other].groups : set.omitted[other - aside].groups;
            groups = counts.groups;
            return;
        }
        Row& row = set.rows[i];
        row.cell = counts.cell;
        row.groups = counts.groups;
        set.late += now != then ? 1 : 0;
        set.without_attributes += row.cell ? 0 : 1;
    });
}

template <class Side>
Result<DecisionSet<Side>> TrainingSetBuilder::build(TimePoint t, const DevelopmentRequest* sample,
                                                    std::optional<TimePoint> from) const {
    Reading<Side> reading(schema_);
    auto& set = reading.set;
    set.as_known_at = t;
    set.schema = schema_.features();
    set.retired = schema_.retired();
    set.group_names = store_->catalog().groups();
    set.cell_names = store_->catalog().cells();
    set.late_attributes = late_attributes_;
    reading.from = from;
    if (stopped_periods_) reading.stopped = stopped_periods_();
    if (sample != nullptr)
        reading.sample.emplace(PersonSample::key_of(split_salt_, sample->seed),
                               std::min(sample->max_rows, limits::kMaxRows));
    RAMPART_RETURN_IF_ERROR(read_rows(reading));
    warn(set.unexplained);
    if (reading.sample) reading.take_out();
    RAMPART_RETURN_IF_ERROR(mark_repeats(reading));
    RAMPART_RETURN_IF_ERROR(set_groups(reading));
    set.repeats = number_records(set.rows, set.set_aside);
    set.digest = digest_of(set, reading.read);
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

Result<VaultSet> TrainingSetBuilder::vault_rows(TimePoint t, std::optional<TimePoint> from) const {
    return build<VaultSide>(t, nullptr, from);
}

Status TrainingSetBuilder::visit_vault(TimePoint t, const VaultVisitor& visit) const {
    const base::KeyedHash split(split_salt_);
    const auto stopped =
        stopped_periods_ ? stopped_periods_() : std::vector<domain::StoppedPeriod>();
    const auto look = [&](const DecisionRow& stored) -> Status {
        if (!known_of<VaultSide>(stored, t)) return base::ok();
        if (!is_held_out(split, stored.person)) return base::ok();
        if (!is_stopped(stopped, stored)) visit(stored.person, stored.event_time);
        return base::ok();
    };
    return joiner_->rows(base::kFirstTime, kAfterLast, RowPart::kAll, look);
}

/// Sets the groups of the rows, hands them out and forgets them.
Status TrainingSetBuilder::hand_over(std::vector<Row>& rows, std::vector<Matured>& matured,
                                     const DecisionVisitor& visit) const {
    std::vector<protected_attributes::ProtectedStore::PersonAt> asked;
    asked.reserve(rows.size());
    for (const Row& row : rows) asked.push_back({row.person.value(), row.decided_at});
    RAMPART_RETURN_IF_ERROR(
        store_->visit_memberships(asked, [&](size_t i, const auto& now, const auto& then) {
            const auto& counts = late_attributes_ == LateAttributes::kAssumed ? now : then;
            rows[i].cell = counts.cell;
            rows[i].groups = counts.groups;
        }));
    for (size_t i = 0; i < rows.size(); ++i) visit(rows[i], matured[i]);
    rows.clear();
    matured.clear();
    return base::ok();
}

Status TrainingSetBuilder::visit_development(TimePoint t, TimePoint from, TimePoint to,
                                             const DecisionVisitor& visit) const {
    const base::KeyedHash split(split_salt_);
    OpenDraws draws;
    std::vector<Row> rows;
    std::vector<Matured> matured;
    const auto look = [&](const DecisionRow& stored) -> Status {
        if (stored.decided_at > t || is_held_out(split, stored.person)) return base::ok();
        const auto known = known_of<DevelopmentSide>(stored, t);
        rows.push_back(make_row(stored, known.value_or(Known{}), t));
        rows.back().repeat = draws.add(rows.back());
        const bool impact = known && (!reports_impact() || known->impact != nullptr);
        matured.push_back(impact ? Matured::kAll : known ? Matured::kLabel : Matured::kNothing);
        return rows.size() < kRowsAtOnce ? base::ok() : hand_over(rows, matured, visit);
    };
    RAMPART_RETURN_IF_ERROR(joiner_->rows(from, to, RowPart::kAll, look));
    return hand_over(rows, matured, visit);
}

Result<ApplicantSet> TrainingSetBuilder::applicants(base::TimePoint from,
                                                    base::TimePoint to) const {
    ApplicantSet set{schema_.features(), {}, {}, {}};
    FeatureColumns columns(schema_);
    const auto add = [&](const DecisionRow& stored) -> Status {
        if (set.persons.size() == limits::kMaxRows) {
            return base::make_error(dataset::Reason::kTooManyRows,
                                    "more than {} decisions from {} to {}", limits::kMaxRows,
                                    base::to_iso8601(from), base::to_iso8601(to));
        }
        if (const auto read = columns.append(stored, set.features); read)
            set.persons.emplace_back(std::string(stored.person));
        else
            training_set::add(set.unexplained, read.error());
        return base::ok();
    };
    RAMPART_RETURN_IF_ERROR(joiner_->rows(from, to, RowPart::kAll, add));
    warn(set.unexplained);
    return set;
}

}  // namespace rampart::training_set
