#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/override.hpp"

/// What is known about one decision id, and how it changes: pure functions, no storage.
///
/// A *report* is an outcome; (measure, revision) names it within a decision. A *version* says what
/// an example's value is from `known_at` on. Version 0 comes with maturity and takes the highest
/// revision that was observed by then; each later version has a higher revision than the one
/// before. A censored report is one without a value, and makes versions without a value. A *taken
/// action* is what a person did instead of what was drawn; of those that approve or decline, which
/// are *answers*, the highest revision counts. One that refers is no answer: it opens a review,
/// which the next answer closes.
///
/// A state is *dated* as long as each record in it came with an Arrival of the log. Its versions
/// are then a function of these records and of what has matured, whatever the order in which they
/// were read: a report counts for version 0 only if it was known by then. An undated state (of a
/// log without append times) does not keep when its reports arrived: those that came before
/// maturity count as known when they were observed, the others as they came.
///
/// An *erased* state has nothing in it and takes nothing in any more.
namespace rampart::joiner {

inline constexpr size_t kMaxReports = 256;  // reports of one decision, and as many overrides

/// How a record arrived.
struct Arrival {
    Arrival(base::TimePoint from, bool log = false) : known_from(from), of_the_log(log) {}

    base::TimePoint known_from;  // the earliest moment at which it may count as known
    bool of_the_log;             // the log says so: every reader finds the same
};

struct Report {
    std::string measure;
    uint32_t revision = 0;
    double value = 0;
    base::TimePoint observed_at;
    bool censored = false;       // then value is 0
    base::TimePoint known_at{};  // max(observed_at, arrival) in a dated state; else 0
    bool operator==(const Report&) const = default;
};

struct Version {
    std::string measure;
    uint32_t version = 0;
    std::optional<double> value;
    uint32_t revision = 0;
    base::TimePoint matured_at, known_at;
    bool censored = false;  // then there is no value, nor will there be
    bool operator==(const Version&) const = default;
};

struct TakenAction {
    uint32_t revision = 0;
    domain::Action action = domain::Action::kDecline;
    std::string actor, reason;
    base::TimePoint at, known_at;
    bool operator==(const TakenAction&) const = default;
};

struct JoinState {
    std::string decision;         // bytes as logged; empty: has not arrived
    base::TimePoint known_from;   // arrival of the decision: nothing about it may be known earlier
    std::vector<Report> reports;  // by measure, revision
    std::vector<Version> versions;     // by measure, version; of matured measures only
    std::vector<TakenAction> taken{};  // by revision
    bool erased = false;               // then all of the above is empty
    bool dated = false;                // see above; false if nothing is in it
    bool operator==(const JoinState&) const = default;
};

enum class Applied {
    kNew,
    kDuplicate,  // the same again: nothing changed
    kConflict,   // the same name with other content: the first stays
    kTooMany,    // past kMaxReports: refused
    kErased,     // refused, as all that comes for an erased state
    kEarlier,    // the same again, in a dated state: it was known earlier than thought
};

/// The decision arrived: nothing about it may be known before.
Applied add_decision(JoinState& state, std::string_view bytes, Arrival arrival);

/// A report arrived, known from max(observed_at, arrival) on. If its measure has matured already
/// and this is news, there is one more version.
Applied add_report(JoinState& state, const domain::Outcome& outcome, Arrival arrival);

/// A person took an action. Known from max(at, arrival) on.
Applied add_override(JoinState& state, const domain::Override& taken, Arrival arrival);

/// What is left of a state when it is erased.
JoinState erased_state();

/// The measure matured: adds version 0, known from max(matured_at, state.known_from) on, and one
/// more for each correction that became known after that. Returns late_reports() of it. Nothing, if
/// it is matured already.
size_t mature(JoinState& state, std::string_view measure, base::TimePoint matured_at);

/// Reports of a matured measure that became known too late for version 0; in an undated state as
/// far as its reports say. 0: not matured.
size_t late_reports(const JoinState& state, std::string_view measure);

/// The last version that is known at `t`; nullptr: not matured by then, as far as was known.
const Version* as_known_at(const JoinState& state, std::string_view measure, base::TimePoint t);
/// The last version; nullptr: not matured.
const Version* latest(const JoinState& state, std::string_view measure);

/// The answer of the highest revision known at `t`; nullptr: none.
const TakenAction* taken_as_known_at(const JoinState& state, base::TimePoint t);
/// The answer of the highest revision; nullptr: none.
const TakenAction* last_answer(const JoinState& state);

/// What waits for people: the draw left the answer to them, or one of them opened a review.
struct OpenReview {
    domain::DecisionId decision;
    base::TimePoint since;      // the decision's time, if it was drawn so, else the review's
    bool referred = false;      // drawn so, and never answered
    std::string actor, reason;  // those of the review opened last; empty: none was
    bool operator==(const OpenReview&) const = default;
};
/// Returns what is open of a decision; nullopt: nothing. `decision`: that of the state.
std::optional<OpenReview> open_review(const JoinState& state, const domain::Decision& decision);
/// Whether anything but the decision itself is there.
bool has_news(const JoinState& state);

/// The stored form. decode: data_loss for anything that encode does not write.
std::string encode(const JoinState& state);
base::Result<JoinState> decode_join_state(std::string_view bytes);

}  // namespace rampart::joiner
