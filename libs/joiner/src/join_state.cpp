#include "rampart/joiner/join_state.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "rampart/base/bytes.hpp"
#include "rampart/base/check.hpp"
#include "rampart/joiner/reasons.hpp"

namespace rampart::joiner {
namespace {

using base::Result;
using base::TimePoint;

constexpr uint8_t kPlain = 1;  // undated; no censored report, no taken action, not erased
constexpr uint8_t kFull = 2;   // undated
constexpr uint8_t kDated = 3;

auto order(const Report& r) { return std::tie(r.measure, r.revision); }
auto order(const Version& v) { return std::tie(v.measure, v.version); }
auto order(const TakenAction& t) { return std::tie(t.revision); }

/// Behind the measure's other versions.
void insert(JoinState& state, Version version) {
    const auto after = std::upper_bound(
        state.versions.begin(), state.versions.end(), version.measure,
        [](const std::string& measure, const Version& v) { return measure < v.measure; });
    state.versions.insert(after, std::move(version));
}

/// A report on a matured measure adds a version if it is news.
void revise(JoinState& state, const Report& report, TimePoint known_at) {
    const Version& before = *latest(state, report.measure);
    if ((before.value || before.censored) && report.revision <= before.revision) return;
    Version next{report.measure, before.version + 1, {}, report.revision, before.matured_at,
                 known_at,       report.censored};
    if (!report.censored) next.value = report.value;
    insert(state, std::move(next));
}

/// When a report counts as known before its measure has matured, and ever after if dated.
TimePoint known_when(const JoinState& state, const Report& report) {
    return state.dated ? report.known_at : report.observed_at;
}

/// Makes the versions of a measure from its reports.
void derive(JoinState& state, std::string_view measure, TimePoint matured_at) {
    std::erase_if(state.versions, [&](const Version& v) { return v.measure == measure; });
    Version first{
        std::string(measure), 0, {}, 0, matured_at, std::max(matured_at, state.known_from), false};
    std::vector<Report> late;
    for (const Report& report : state.reports) {  // by revision
        if (report.measure != measure) continue;
        if (known_when(state, report) > first.known_at) {
            late.push_back(report);
            continue;
        }
        first.value = report.censored ? std::nullopt : std::optional(report.value);
        first.censored = report.censored;
        first.revision = report.revision;
    }
    insert(state, std::move(first));
    // reports of the same time stay in order of revision
    std::stable_sort(late.begin(), late.end(), [&](const Report& a, const Report& b) {
        return known_when(state, a) < known_when(state, b);
    });
    for (const Report& report : late) revise(state, report, known_when(state, report));
}

/// Makes the versions anew, if the measure has matured.
void derive_again(JoinState& state, std::string_view measure) {
    const Version* matured = latest(state, measure);
    if (matured != nullptr) derive(state, measure, TimePoint(matured->matured_at));
}

bool is_empty(const JoinState& state) {
    return state.decision.empty() && state.reports.empty() && state.taken.empty();
}

bool is_answer(const TakenAction& taken) { return taken.action != domain::Action::kRefer; }

/// Keeps the state dated, or makes it so if it is the first that comes.
void date(JoinState& state, const Arrival& arrival) {
    const bool dated = arrival.of_the_log && (state.dated || is_empty(state));
    if (state.dated && !dated) {
        for (Report& report : state.reports) report.known_at = {};
    }
    state.dated = dated;
}

}  // namespace

Applied add_decision(JoinState& state, std::string_view bytes, Arrival arrival) {
    RAMPART_CHECK(!bytes.empty(), "a decision without bytes");
    if (state.erased) return Applied::kErased;
    if (!state.decision.empty())
        return state.decision == bytes ? Applied::kDuplicate : Applied::kConflict;
    date(state, arrival);
    state.decision = bytes;
    state.known_from = arrival.known_from;
    return Applied::kNew;
}

Applied add_report(JoinState& state, const domain::Outcome& outcome, Arrival arrival) {
    if (state.erased) return Applied::kErased;
    Report report{outcome.measure, outcome.revision, outcome.value, outcome.observed_at,
                  outcome.censored};
    const TimePoint known_at = std::max(report.observed_at, arrival.known_from);
    const auto at =
        std::lower_bound(state.reports.begin(), state.reports.end(), report,
                         [](const Report& a, const Report& b) { return order(a) < order(b); });
    if (at != state.reports.end() && order(*at) == order(report)) {
        report.known_at = at->known_at;
        if (*at != report) return Applied::kConflict;
        if (!state.dated || !arrival.of_the_log || known_at >= at->known_at) {
            return Applied::kDuplicate;
        }
        at->known_at = known_at;
        derive_again(state, report.measure);
        return Applied::kEarlier;
    }
    if (state.reports.size() >= kMaxReports) return Applied::kTooMany;
    const auto place = at - state.reports.begin();
    date(state, arrival);
    if (state.dated) report.known_at = known_at;
    state.reports.insert(state.reports.begin() + place, report);
    if (state.dated) {
        derive_again(state, report.measure);
    } else if (latest(state, report.measure) != nullptr) {
        revise(state, report, known_at);
    }
    return Applied::kNew;
}

Applied add_override(JoinState& state, const domain::Override& taken, Arrival arrival) {
    if (state.erased) return Applied::kErased;
    TakenAction next{taken.revision, taken.action_taken, taken.actor,
                     taken.reason,   taken.at,           std::max(taken.at, arrival.known_from)};
    const auto at =
        std::lower_bound(state.taken.begin(), state.taken.end(), next,
                         [](const auto& a, const auto& b) { return a.revision < b.revision; });
    if (at != state.taken.end() && at->revision == next.revision) {
        const TimePoint known_at = std::exchange(next.known_at, at->known_at);
        if (*at != next) return Applied::kConflict;
        if (!state.dated || !arrival.of_the_log || known_at >= at->known_at) {
            return Applied::kDuplicate;
        }
        at->known_at = known_at;
        return Applied::kEarlier;
    }
    if (state.taken.size() >= kMaxReports) return Applied::kTooMany;
    date(state, arrival);
    state.taken.insert(at, std::move(next));
    return Applied::kNew;
}

JoinState erased_state() {
    JoinState state;
    state.erased = true;
    return state;
}

size_t mature(JoinState& state, std::string_view measure, TimePoint matured_at) {
    if (latest(state, measure) != nullptr) return 0;
    derive(state, measure, matured_at);
    return late_reports(state, measure);
}

size_t late_reports(const JoinState& state, std::string_view measure) {
    const auto first =
        std::find_if(state.versions.begin(), state.versions.end(),
                     [&](const Version& version) { return version.measure == measure; });
    if (first == state.versions.end()) return 0;
    return static_cast<size_t>(
        std::count_if(state.reports.begin(), state.reports.end(), [&](const Report& report) {
            return report.measure == measure && known_when(state, report) > first->known_at;
        }));
}

const Version* as_known_at(const JoinState& state, std::string_view measure, TimePoint t) {
    const Version* found = nullptr;
    for (const Version& version : state.versions) {
        if (version.measure == measure && version.known_at <= t) found = &version;
    }
    return found;
}

const Version* latest(const JoinState& state, std::string_view measure) {
    const auto it = std::find_if(state.versions.rbegin(), state.versions.rend(),
                                 [&](const Version& v) { return v.measure == measure; });
    return it == state.versions.rend() ? nullptr : &*it;
}

const TakenAction* taken_as_known_at(const JoinState& state, TimePoint t) {
    const auto it =
        std::find_if(state.taken.rbegin(), state.taken.rend(),
                     [&](const TakenAction& a) { return is_answer(a) && a.known_at <= t; });
    return it == state.taken.rend() ? nullptr : &*it;
}

const TakenAction* last_answer(const JoinState& state) {
    const auto it = std::find_if(state.taken.rbegin(), state.taken.rend(), is_answer);
    return it == state.taken.rend() ? nullptr : &*it;
}

std::optional<OpenReview> open_review(const JoinState& state, const domain::Decision& decision) {
    // the review that was opened first behind the last answer
    const auto first = std::find_if(state.taken.rbegin(), state.taken.rend(), is_answer).base();
    OpenReview open;
    open.decision = decision.id;
    if (decision.action == domain::Action::kRefer && last_answer(state) == nullptr) {
        open.referred = true;
        open.since = decision.decided_at;
    } else if (first != state.taken.end()) {
        open.since = first->at;
    } else {
        return std::nullopt;
    }
    if (first != state.taken.end()) {
        open.actor = state.taken.back().actor;
        open.reason = state.taken.back().reason;
    }
    return open;
}

bool has_news(const JoinState& state) { return !state.reports.empty() || !state.taken.empty(); }

namespace {

/// The oldest form that can say it: what was written before there was a later one stays the same,
/// and so does its hash.
uint8_t format_of(const JoinState& state) {
    if (state.dated) return kDated;
    const auto censored = [](const auto& entry) { return entry.censored; };
    const bool plain = state.taken.empty() && !state.erased &&
                       std::none_of(state.reports.begin(), state.reports.end(), censored) &&
                       std::none_of(state.versions.begin(), state.versions.end(), censored);
    return plain ? kPlain : kFull;
}

void append(std::string& out, const Report& report, uint8_t format) {
    base::append_field(out, report.measure);
    base::append_u32(out, report.revision);
    base::append_f64(out, report.value);
    base::append_i64(out, report.observed_at.micros());
    if (format != kPlain) base::append_u8(out, report.censored ? 1 : 0);
    if (format == kDated) base::append_i64(out, report.known_at.micros());
}

void append(std::string& out, const Version& version) {
    base::append_field(out, version.measure);
    base::append_u32(out, version.version);
    base::append_u8(out, version.censored ? 2 : version.value ? 1 : 0);
    base::append_f64(out, version.value.value_or(0));
    base::append_u32(out, version.revision);
    base::append_i64(out, version.matured_at.micros());
    base::append_i64(out, version.known_at.micros());
}

void append(std::string& out, const TakenAction& taken) {
    base::append_u32(out, taken.revision);
    base::append_u8(out, static_cast<uint8_t>(taken.action));
    base::append_field(out, taken.actor);
    base::append_field(out, taken.reason);
    base::append_i64(out, taken.at.micros());
    base::append_i64(out, taken.known_at.micros());
}

}  // namespace

std::string encode(const JoinState& state) {
    const uint8_t format = format_of(state);
    std::string out;
    base::append_u8(out, format);
    if (format == kFull) base::append_u8(out, state.erased ? 1 : 0);
    base::append_field(out, state.decision);
    base::append_i64(out, state.known_from.micros());
    base::append_u32(out, static_cast<uint32_t>(state.reports.size()));
    for (const Report& report : state.reports) append(out, report, format);
    base::append_u32(out, static_cast<uint32_t>(state.versions.size()));
    for (const Version& version : state.versions) append(out, version);
    if (format == kPlain) return out;
    base::append_u32(out, static_cast<uint32_t>(state.taken.size()));
    for (const TakenAction& taken : state.taken) append(out, taken);
    return out;
}

namespace {

Result<TimePoint> read_time(base::ByteReader& in) {
    RAMPART_TRY(const int64_t micros, in.i64());
    return TimePoint::from_micros(micros);
}

base::Error bad_state(std::string_view what) {
    return base::make_error(Reason::kBadJoinState, "a stored state {}", what);
}

Result<double> read_value(base::ByteReader& in) {
    RAMPART_TRY(const double value, in.f64());
    if (!std::isfinite(value)) return bad_state("has a value that is no number");
    return value;
}

bool is_zero(double value) { return std::bit_cast<uint64_t>(value) == 0; }

Result<bool> read_flag(base::ByteReader& in) {
    RAMPART_TRY(const uint8_t flag, in.u8());
    if (flag > 1) return bad_state("has a flag that is neither 0 nor 1");
    return flag == 1;
}

Result<Report> read_report(base::ByteReader& in, uint8_t format) {
    Report report;
    RAMPART_TRY(report.measure, in.field());
    RAMPART_TRY(report.revision, in.u32());
    RAMPART_TRY(report.value, read_value(in));
    RAMPART_TRY(report.observed_at, read_time(in));
    if (format != kPlain) {
        RAMPART_TRY(report.censored, read_flag(in));
    }
    if (format == kDated) {
        RAMPART_TRY(report.known_at, read_time(in));
    }
    if (report.censored && !is_zero(report.value)) return bad_state("has a censored value");
    return report;
}

Result<Version> read_version(base::ByteReader& in, uint8_t format) {
    Version version;
    RAMPART_TRY(version.measure, in.field());
    RAMPART_TRY(version.version, in.u32());
    RAMPART_TRY(const uint8_t kind, in.u8());
    RAMPART_TRY(const double value, read_value(in));
    version.censored = kind == 2 && format != kPlain;
    if (kind == 1) {
        version.value = value;
    } else if ((kind != 0 && !version.censored) || !is_zero(value)) {
        return bad_state("has a version neither with a value nor without");
    }
    RAMPART_TRY(version.revision, in.u32());
    RAMPART_TRY(version.matured_at, read_time(in));
    RAMPART_TRY(version.known_at, read_time(in));
    return version;
}

Result<TakenAction> read_taken(base::ByteReader& in, uint8_t) {
    TakenAction taken;
    RAMPART_TRY(taken.revision, in.u32());
    RAMPART_TRY(const uint8_t action, in.u8());
    if (action > static_cast<uint8_t>(domain::Action::kRefer))
        return bad_state("has an action that there is not");
    taken.action = static_cast<domain::Action>(action);
    RAMPART_TRY(taken.actor, in.field());
    RAMPART_TRY(taken.reason, in.field());
    RAMPART_TRY(taken.at, read_time(in));
    RAMPART_TRY(taken.known_at, read_time(in));
    return taken;
}

/// A list with its length, strictly ascending.
template <class T>
base::Status read_list(base::ByteReader& in, uint8_t format,
                       Result<T> (*read)(base::ByteReader&, uint8_t), std::vector<T>& out) {
    RAMPART_TRY(const uint32_t count, in.u32());
    for (uint32_t i = 0; i < count; ++i) {
        RAMPART_TRY(auto entry, read(in, format));
        if (i > 0 && !(order(out.back()) < order(entry))) return bad_state("is out of order");
        out.push_back(std::move(entry));
    }
    return base::ok();
}

}  // namespace

Result<JoinState> decode_join_state(std::string_view bytes) {
    base::ByteReader in(bytes);
    JoinState state;
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format < kPlain || format > kDated) {
        return base::make_error(Reason::kBadJoinState, "a stored state has format {}, not {} to {}",
                                format, kPlain, kDated);
    }
    state.dated = format == kDated;
    if (format == kFull) {
        RAMPART_TRY(state.erased, read_flag(in));
    }
    RAMPART_TRY(state.decision, in.field());
    RAMPART_TRY(state.known_from, read_time(in));
    RAMPART_RETURN_IF_ERROR(read_list(in, format, read_report, state.reports));
    RAMPART_RETURN_IF_ERROR(read_list(in, format, read_version, state.versions));
    if (format != kPlain) RAMPART_RETURN_IF_ERROR(read_list(in, format, read_taken, state.taken));
    if (state.reports.size() > kMaxReports || state.taken.size() > kMaxReports) {
        return bad_state("has too many reports");
    }
    if (!in.empty()) return bad_state("is followed by other bytes");
    if (state.dated && is_empty(state)) return bad_state("is dated and has no content");
    if (state.erased && state != erased_state()) return bad_state("is erased and has content");
    if (format_of(state) != format) return bad_state("is not in the form that it should have");
    return state;
}

}  // namespace rampart::joiner
