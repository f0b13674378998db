#include "reducer.hpp"

#include <algorithm>

#include "rampart/joiner/reasons.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/fence.hpp"

namespace rampart::joiner {
namespace {

using base::Error;
using base::Result;
using base::TimePoint;
using MaybeError = std::optional<Error>;

/// Whether the loan of a loaded state was granted in the end, as far as is known. The decision has
/// arrived.
Result<bool> is_granted(JoinBatch& batch, const std::string& id, const JoinState& state) {
    if (const auto* answer = last_answer(state)) return answer->action == domain::Action::kApprove;
    RAMPART_TRY(const auto* decision, batch.decision_of(id));
    return decision->action == domain::Action::kApprove;
}

size_t versions_of(const JoinState& state, std::string_view measure) {
    return static_cast<size_t>(
        std::count_if(state.versions.begin(), state.versions.end(),
                      [&](const Version& v) { return v.measure == measure; }));
}

bool has_report(const JoinState& state, std::string_view measure) {
    return std::any_of(state.reports.begin(), state.reports.end(),
                       [&](const Report& r) { return r.measure == measure; });
}

/// How a measure of a state stands, before and after a change.
struct Standing {
    std::optional<Version> last;  // nullopt: not matured
    size_t versions = 0, late = 0;
};

Standing standing_of(const JoinState& state, std::string_view measure) {
    const Version* last = latest(state, measure);
    if (last == nullptr) return {};
    return {*last, versions_of(state, measure), late_reports(state, measure)};
}

/// Either of them may have become fewer: a report can turn out to have been known in time.
void count_change(Counts& counts, const Standing& before, const Standing& now) {
    counts.corrected += now.versions - before.versions;
    counts.late_outcomes += now.late - before.late;
}

/// Nothing has been said about the value, so that one is owed if the loan was granted.
bool is_open(const Version& version) { return !version.value && !version.censored; }

/// The entries of kOverdue that a granted loan has.
std::vector<std::string> open_examples(const JoinState& state, const std::string& id) {
    std::vector<std::string> keys;
    for (const auto& version : state.versions) {
        if (&version != latest(state, version.measure) || !is_open(version)) continue;
        keys.push_back(maturity_key({version.matured_at, version.measure, id}));
    }
    return keys;
}

void owe(JoinBatch& batch, const std::vector<std::string>& examples) {
    for (const auto& key : examples) batch.put(kOverdue, key);
    batch.counts().overdue += examples.size();
}

void owe_no_more(JoinBatch& batch, const std::vector<std::string>& examples) {
    for (const auto& key : examples) batch.erase(kOverdue, key);
    batch.counts().overdue -= examples.size();
}

/// A report or an override of a decision that has not arrived.
void dangle(JoinBatch& batch, const std::string& id) {
    ++batch.counts().unmatched;
    batch.put(kUnmatched, id);
}

/// Returns the key in kReviews of a loaded state; empty: nothing is open. The decision has arrived.
Result<std::string> open_key(JoinBatch& batch, const std::string& id, const JoinState& state) {
    RAMPART_TRY(const auto* decision, batch.decision_of(id));
    const auto open = open_review(state, *decision);
    return open ? review_key(open->since, id) : std::string();
}

/// Puts the index of open reviews right where a key became another one.
void move_review(JoinBatch& batch, const std::string& before, const std::string& now) {
    if (before == now) return;
    if (!before.empty()) batch.erase(kReviews, before);
    if (!now.empty()) batch.put(kReviews, now);
}

MaybeError too_many(const std::string& id, std::string_view what) {
    return MaybeError(base::make_error(Reason::kTooManyReports, "decision '{}' has {} {} already",
                                       id, kMaxReports, what));
}

}  // namespace

base::Status check_event(const domain::Product& product, const wire::OutcomeEvent& event) {
    const auto* outcome = std::get_if<domain::Outcome>(&event);
    return outcome == nullptr ? base::ok() : domain::check_outcome(product, *outcome);
}

Reducer::Verdict Reducer::decision(JoinBatch& batch, const streaming::Record& record,
                                   Arrival arrival) const {
    Counts& counts = batch.counts();
    if (wire::is_erasure(record)) return erasure(batch, record);
    const auto mark = wire::writer_mark(record);
    if (mark && mark->fence) {
        batch.raise_fence(mark->epoch);
        return MaybeError();
    }
    if (mark && mark->epoch < batch.fence()) {
        ++counts.fenced;
        return MaybeError();
    }
    if (!mark) {
        ++counts.undecodable;
        return MaybeError(mark.error());
    }
    return admitted_decision(batch, record, arrival);
}

Reducer::Verdict Reducer::admitted_decision(JoinBatch& batch, const streaming::Record& record,
                                            Arrival arrival) const {
    if (wire::is_erasure(record)) return erasure(batch, record);
    Counts& counts = batch.counts();
    auto decision = wire::decode_decision(record, partition_, partitions_);
    if (!decision) {
        ++counts.undecodable;
        return MaybeError(decision.error());
    }
    const std::string id = decision->id.value();
    RAMPART_TRY(JoinState * state, batch.load(id));
    if (const auto foreign = check_draw(*state, *decision)) {
        ++counts.foreign_draws;
        return foreign;
    }
    switch (add_decision(*state, record.value, arrival)) {
        case Applied::kDuplicate:
            ++counts.duplicate_decisions;
            return MaybeError();
        case Applied::kErased:
            ++counts.ignored;
            return MaybeError();
        case Applied::kConflict:
        case Applied::kTooMany:
        case Applied::kEarlier:
            ++counts.conflicting_decisions;
            return MaybeError(base::make_error(Reason::kConflictingDecision,
                                               "decision '{}' is known with other "
                                               "content; the first one stays",
                                               id));
        case Applied::kNew:
            break;
    }
    ++counts.decisions;
    batch.touch(id);
    const TimePoint event_time = decision->application.event_time;
    batch.put(kPersons, person_key(decision->application.person, id));
    for (const auto& measure : product_.all_measures()) {
        batch.put_pending({measure.maturity(event_time), measure.name, id});
    }
    if (has_news(*state)) {
        counts.unmatched -= state->reports.size() + state->taken.size();
        batch.erase(kUnmatched, id);
    }
    batch.keep_decision(id, *std::move(decision));
    RAMPART_TRY(const auto open, open_key(batch, id, *state));
    move_review(batch, "", open);
    return MaybeError();
}

/// Returns why the decision is refused for its draw. One that is erased leaves nothing, also not
/// in quarantine.
MaybeError Reducer::check_draw(const JoinState& state, const domain::Decision& decision) const {
    if (!options_.check_draw || state.erased) return MaybeError();
    const auto genuine = options_.check_draw(decision);
    return genuine ? MaybeError() : MaybeError(genuine.error());
}

/// Returns whether a contradiction has to look like a repetition. Without the decision it is not
/// known whose it is.
Result<bool> Reducer::is_withheld(const JoinState& state) const {
    if (!options_.withheld) return false;
    if (state.decision.empty()) return true;
    RAMPART_TRY(const auto decision, wire::decode_decision(state.decision));
    return options_.withheld(decision.application.person);
}

Reducer::Verdict Reducer::event(JoinBatch& batch, const wire::OutcomeEvent& event,
                                Arrival arrival) const {
    return std::visit([&](const auto& e) { return apply(batch, e, arrival); }, event);
}

Reducer::Verdict Reducer::apply(JoinBatch& batch, const domain::Outcome& report,
                                Arrival arrival) const {
    Counts& counts = batch.counts();
    const std::string& id = report.decision.value();
    RAMPART_TRY(JoinState * state, batch.load(id));
    const bool reported_before = has_report(*state, report.measure);
    const Standing before = standing_of(*state, report.measure);
    switch (add_report(*state, report, arrival)) {
        case Applied::kDuplicate:
            ++counts.duplicate_outcomes;
            return MaybeError();
        case Applied::kEarlier:
            ++counts.duplicate_outcomes;
            batch.touch(id);
            count_change(counts, before, standing_of(*state, report.measure));
            return MaybeError();
        case Applied::kErased:
            ++counts.ignored;
            return MaybeError();
        case Applied::kConflict: {
            RAMPART_TRY(const bool withheld, is_withheld(*state));
            ++(withheld ? counts.duplicate_outcomes : counts.conflicting_outcomes);
            return MaybeError(base::make_error(
                withheld ? Reason::kWithheldOutcome : Reason::kConflictingOutcome,
                "decision '{}', measure '{}', revision {} is known with other content; the first "
                "one stays; send corrections with a higher revision",
                id, report.measure, report.revision));
        }
        case Applied::kTooMany:
            ++counts.undecodable;
            return too_many(id, "outcomes");
        case Applied::kNew:
            break;
    }
    ++counts.outcomes;
    batch.touch(id);
    if (reported_before) ++counts.corrections;
    if (state->decision.empty()) dangle(batch, id);
    if (!before.last) return MaybeError();
    const Standing now = standing_of(*state, report.measure);
    count_change(counts, before, now);
    // it came when all was matured; when it was observed says nothing about that
    if (!state->dated) counts.late_outcomes += 1 - (now.late - before.late);
    if (!is_open(*before.last) || is_open(*now.last)) return MaybeError();
    RAMPART_TRY(const bool was_overdue, is_granted(batch, id, *state));
    if (was_overdue) {
        owe_no_more(batch, {maturity_key({before.last->matured_at, report.measure, id})});
    }
    return MaybeError();
}

Reducer::Verdict Reducer::apply(JoinBatch& batch, const domain::Override& taken,
                                Arrival arrival) const {
    Counts& counts = batch.counts();
    const std::string& id = taken.decision.value();
    RAMPART_TRY(JoinState * state, batch.load(id));
    const bool decided = !state->decision.empty();
    bool was_granted = false;
    std::string open_before;
    if (decided) {
        RAMPART_TRY(was_granted, is_granted(batch, id, *state));
        RAMPART_TRY(open_before, open_key(batch, id, *state));
    }
    switch (add_override(*state, taken, arrival)) {
        case Applied::kDuplicate:
            ++counts.duplicate_outcomes;
            return MaybeError();
        case Applied::kEarlier:
            ++counts.duplicate_outcomes;
            batch.touch(id);
            return MaybeError();
        case Applied::kErased:
            ++counts.ignored;
            return MaybeError();
        case Applied::kConflict:
            ++counts.conflicting_outcomes;
            return MaybeError(base::make_error(
                Reason::kConflictingOverride,
                "decision '{}': revision {} of its override is known with other content; the first "
                "one stays; send corrections with a higher revision",
                id, taken.revision));
        case Applied::kTooMany:
            ++counts.undecodable;
            return too_many(id, "overrides");
        case Applied::kNew:
            break;
    }
    ++counts.overrides;
    batch.touch(id);
    if (!decided) {
        dangle(batch, id);
        return MaybeError();
    }
    RAMPART_TRY(const auto open, open_key(batch, id, *state));
    move_review(batch, open_before, open);
    RAMPART_TRY(const bool granted, is_granted(batch, id, *state));
    if (granted && !was_granted) owe(batch, open_examples(*state, id));
    if (!granted && was_granted) owe_no_more(batch, open_examples(*state, id));
    return MaybeError();
}

Reducer::Verdict Reducer::erasure(JoinBatch& batch, const streaming::Record& record) const {
    const auto erasure = wire::decode_erasure(record, partition_, partitions_);
    if (!erasure) {
        ++batch.counts().undecodable;
        return MaybeError(erasure.error());
    }
    const std::string& id = erasure->decision.value();
    RAMPART_TRY(JoinState * state, batch.load(id));
    if (state->erased) return MaybeError();
    RAMPART_RETURN_IF_ERROR(forget(batch, id, *state));
    ++batch.counts().erased;
    *state = erased_state();
    batch.touch(id);
    return MaybeError();
}

/// Takes the state out of all indices and of what is counted of the present.
base::Status Reducer::forget(JoinBatch& batch, const std::string& id,
                             const JoinState& state) const {
    Counts& counts = batch.counts();
    if (state.decision.empty()) {
        if (has_news(state)) batch.erase(kUnmatched, id);
        counts.unmatched -= state.reports.size() + state.taken.size();
        return base::ok();
    }
    RAMPART_TRY(const auto* decision, batch.decision_of(id));
    RAMPART_TRY(const bool granted, is_granted(batch, id, state));
    if (granted) owe_no_more(batch, open_examples(state, id));
    RAMPART_TRY(const auto open, open_key(batch, id, state));
    move_review(batch, open, "");
    const TimePoint event_time = decision->application.event_time;
    batch.erase(kByTime, time_key(event_time, id));
    batch.erase(kPersons, person_key(decision->application.person, id));
    for (const auto& measure : product_.all_measures()) {
        batch.erase(kPending, maturity_key({measure.maturity(event_time), measure.name, id}));
        if (latest(state, measure.name) != nullptr) --counts.matured;
    }
    --counts.decisions;
    return base::ok();
}

Result<size_t> Reducer::matured(JoinBatch& batch, const MaturityKey& key, TimePoint now) const {
    RAMPART_TRY(const JoinState* state, batch.load(key.id));
    RAMPART_TRY(const auto* decision, batch.decision_of(key.id));
    const TimePoint event_time = decision->application.event_time;
    size_t matured = 0;
    for (const auto& measure : product_.all_measures()) {
        const TimePoint due = measure.maturity(event_time);
        if (due > now || latest(*state, measure.name) != nullptr) continue;
        RAMPART_RETURN_IF_ERROR(mature_measure(batch, {due, measure.name, key.id}));
        ++matured;
    }
    return matured;
}

base::Status Reducer::mature_measure(JoinBatch& batch, const MaturityKey& key) const {
    RAMPART_TRY(JoinState * state, batch.load(key.id));
    batch.erase(kPending, maturity_key(key));
    Counts& counts = batch.counts();
    counts.late_outcomes += mature(*state, key.measure, key.maturity);
    batch.touch(key.id);
    ++counts.matured;
    counts.corrected += versions_of(*state, key.measure) - 1;
    if (!is_open(*latest(*state, key.measure))) return base::ok();
    RAMPART_TRY(const bool granted, is_granted(batch, key.id, *state));
    if (granted) owe(batch, {maturity_key(key)});
    return base::ok();
}

}  // namespace rampart::joiner
