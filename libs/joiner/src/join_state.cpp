#include "rampart/joiner/join_state.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "rampart/base/bytes.hpp"
#include "rampart/base/check.hpp"
#include "rampart/joiner/reasons.hpp"

namespace rampart::joiner {
namespace {

using base::Result;
using base::TimePoint;

constexpr uint8_t kPlain = 1;  // no censored report, no taken action, not erased
constexpr uint8_t kFull = 2;

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

/// The reports of one measure, by revision.
std::vector<Report> reports_of(const JoinState& state, std::string_view measure) {
    std::vector<Report> found;
    std::copy_if(state.reports.begin(), state.reports.end(), std::back_inserter(found),
                 [&](const Report& r) { return r.measure == measure; });
    return found;
}

}  // namespace

Applied add_decision(JoinState& state, std::string_view bytes, TimePoint known_from) {
    RAMPART_CHECK(!bytes.empty(), "a decision without bytes");
    if (state.erased) return Applied::kErased;
    if (!state.decision.empty())
        return state.decision == bytes ? Applied::kDuplicate : Applied::kConflict;
    state.decision = bytes;
    state.known_from = known_from;
    return Applied::kNew;
}

Applied add_report(JoinState& state, const domain::Outcome& outcome, TimePoint known_from) {
    if (state.erased) return Applied::kErased;
    const Report report{outcome.measure, outcome.revision, outcome.value, outcome.observed_at,
                        outcome.censored};
    const auto at =
        std::lower_bound(state.reports.begin(), state.reports.end(), report,
                         [](const Report& a, const Report& b) { return order(a) < order(b); });
    if (at != state.reports.end() && order(*at) == order(report)) {
        return *at == report ? Applied::kDuplicate : Applied::kConflict;
    }
    if (state.reports.size() >= kMaxReports) return Applied::kTooMany;
    state.reports.insert(at, report);
    if (latest(state, report.measure) != nullptr) {
        revise(state, report, std::max(report.observed_at, known_from));
    }
    return Applied::kNew;
}

Applied add_override(JoinState& state, const domain::Override& taken, TimePoint known_from) {
    if (state.erased) return Applied::kErased;
    TakenAction next{taken.revision, taken.action_taken, taken.actor,
                     taken.reason,   taken.at,           std::max(taken.at, known_from)};
    const auto at =
        std::lower_bound(state.taken.begin(), state.taken.end(), next,
                         [](const auto& a, const auto& b) { return a.revision < b.revision; });
    if (at != state.taken.end() && at->revision == next.revision) {
        next.known_at = at->known_at;
        return *at == next ? Applied::kDuplicate : Applied::kConflict;
    }
    if (state.taken.size() >= kMaxReports) return Applied::kTooMany;
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
    Version first{
        std::string(measure), 0, {}, 0, matured_at, std::max(matured_at, state.known_from), false};
    auto reports = reports_of(state, measure);
    const auto in_time =
        std::stable_partition(reports.begin(), reports.end(),
                              [&](const Report& r) { return r.observed_at <= first.known_at; });
    if (in_time != reports.begin()) {
        const Report& last = *std::prev(in_time);  // the highest revision among these
        if (!last.censored) first.value = last.value;
        first.censored = last.censored;
        first.revision = last.revision;
    }
    insert(state, std::move(first));
    const auto late = static_cast<size_t>(reports.end() - in_time);
    std::stable_sort(in_time, reports.end(), [](const Report& a, const Report& b) {
        return a.observed_at < b.observed_at;  // reports of the same time are in order of revision
    });
    for (auto report = in_time; report != reports.end(); ++report) {
        revise(state, *report, report->observed_at);
    }
    return late;
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
    const auto it = std::find_if(state.taken.rbegin(), state.taken.rend(),
                                 [&](const TakenAction& a) { return a.known_at <= t; });
    return it == state.taken.rend() ? nullptr : &*it;
}

bool has_news(const JoinState& state) { return !state.reports.empty() || !state.taken.empty(); }

namespace {

/// The oldest form that can say it: what was written before there was a later one stays the same,
/// and so does its hash.
uint8_t format_of(const JoinState& state) {
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
    if (format == kFull) base::append_u8(out, report.censored ? 1 : 0);
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
    if (format == kFull) {
        RAMPART_TRY(report.censored, read_flag(in));
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
    version.censored = kind == 2 && format == kFull;
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
    RAMPART_TRY(const bool approved, read_flag(in));
    taken.action = approved ? domain::Action::kApprove : domain::Action::kDecline;
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
    if (format != kPlain && format != kFull) {
        return base::make_error(Reason::kBadJoinState, "a stored state has format {}, not {} or {}",
                                format, kPlain, kFull);
    }
    if (format == kFull) {
        RAMPART_TRY(state.erased, read_flag(in));
    }
    RAMPART_TRY(state.decision, in.field());
    RAMPART_TRY(state.known_from, read_time(in));
    RAMPART_RETURN_IF_ERROR(read_list(in, format, read_report, state.reports));
    RAMPART_RETURN_IF_ERROR(read_list(in, format, read_version, state.versions));
    if (format == kFull) RAMPART_RETURN_IF_ERROR(read_list(in, format, read_taken, state.taken));
    if (state.reports.size() > kMaxReports || state.taken.size() > kMaxReports) {
        return bad_state("has too many reports");
    }
    if (!in.empty()) return bad_state("is followed by other bytes");
    if (state.erased && state != erased_state()) return bad_state("is erased and has content");
    if (format_of(state) != format) return bad_state("is not in the form that it should have");
    return state;
}

}  // namespace rampart::joiner
