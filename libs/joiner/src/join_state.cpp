#include "rampart/joiner/join_state.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "rampart/base/bytes.hpp"
#include "rampart/base/check.hpp"

namespace rampart::joiner {
namespace {

using base::Result;
using base::TimePoint;

constexpr uint8_t kFormat = 1;

auto order(const Report& r) { return std::tie(r.measure, r.revision); }
auto order(const Version& v) { return std::tie(v.measure, v.version); }

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
    if (before.value && report.revision <= before.revision) return;
    insert(state, {report.measure, before.version + 1, report.value, report.revision,
                   before.matured_at, known_at});
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
    if (!state.decision.empty())
        return state.decision == bytes ? Applied::kDuplicate : Applied::kConflict;
    state.decision = bytes;
    state.known_from = known_from;
    return Applied::kNew;
}

Applied add_report(JoinState& state, const domain::Outcome& outcome, TimePoint known_from) {
    const Report report{outcome.measure, outcome.revision, outcome.value, outcome.observed_at};
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

size_t mature(JoinState& state, std::string_view measure, TimePoint matured_at) {
    if (latest(state, measure) != nullptr) return 0;
    Version first{
        std::string(measure), 0, {}, 0, matured_at, std::max(matured_at, state.known_from)};
    auto reports = reports_of(state, measure);
    const auto in_time =
        std::stable_partition(reports.begin(), reports.end(),
                              [&](const Report& r) { return r.observed_at <= first.known_at; });
    if (in_time != reports.begin()) {
        first.value = std::prev(in_time)->value;  // the highest revision among these
        first.revision = std::prev(in_time)->revision;
    }
    insert(state, std::move(first));
    const auto late = static_cast<size_t>(reports.end() - in_time);
    std::stable_sort(in_time, reports.end(), [](const Report& a, const Report& b) {
        return a.observed_at < b.observed_at;  // of the same time: by revision, as they stand
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

std::string encode(const JoinState& state) {
    std::string out;
    base::append_u8(out, kFormat);
    base::append_field(out, state.decision);
    base::append_i64(out, state.known_from.micros());
    base::append_u32(out, static_cast<uint32_t>(state.reports.size()));
    for (const Report& report : state.reports) {
        base::append_field(out, report.measure);
        base::append_u32(out, report.revision);
        base::append_f64(out, report.value);
        base::append_i64(out, report.observed_at.micros());
    }
    base::append_u32(out, static_cast<uint32_t>(state.versions.size()));
    for (const Version& version : state.versions) {
        base::append_field(out, version.measure);
        base::append_u32(out, version.version);
        base::append_u8(out, version.value ? 1 : 0);
        base::append_f64(out, version.value.value_or(0));
        base::append_u32(out, version.revision);
        base::append_i64(out, version.matured_at.micros());
        base::append_i64(out, version.known_at.micros());
    }
    return out;
}

namespace {

Result<TimePoint> read_time(base::ByteReader& in) {
    RAMPART_TRY(const int64_t micros, in.i64());
    return TimePoint::from_micros(micros);
}

base::Error bad_state(std::string_view what) {
    return base::data_loss("bad_join_state", "a stored state {}", what);
}

Result<double> read_value(base::ByteReader& in) {
    RAMPART_TRY(const double value, in.f64());
    if (!std::isfinite(value)) return bad_state("has a value that is no number");
    return value;
}

Result<Report> read_report(base::ByteReader& in) {
    Report report;
    RAMPART_TRY(report.measure, in.field());
    RAMPART_TRY(report.revision, in.u32());
    RAMPART_TRY(report.value, read_value(in));
    RAMPART_TRY(report.observed_at, read_time(in));
    return report;
}

Result<Version> read_version(base::ByteReader& in) {
    Version version;
    RAMPART_TRY(version.measure, in.field());
    RAMPART_TRY(version.version, in.u32());
    RAMPART_TRY(const uint8_t has_value, in.u8());
    RAMPART_TRY(const double value, read_value(in));
    if (has_value == 1) {
        version.value = value;
    } else if (has_value != 0 || std::bit_cast<uint64_t>(value) != 0) {
        return bad_state("has a version neither with a value nor without");
    }
    RAMPART_TRY(version.revision, in.u32());
    RAMPART_TRY(version.matured_at, read_time(in));
    RAMPART_TRY(version.known_at, read_time(in));
    return version;
}

/// A list with its length, strictly ascending.
template <class T>
base::Status read_list(base::ByteReader& in, Result<T> (*read)(base::ByteReader&),
                       std::vector<T>& out) {
    RAMPART_TRY(const uint32_t count, in.u32());
    for (uint32_t i = 0; i < count; ++i) {
        RAMPART_TRY(auto entry, read(in));
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
    if (format != kFormat) {
        return base::data_loss("bad_join_state", "a stored state has format {}, not {}", format,
                               kFormat);
    }
    RAMPART_TRY(state.decision, in.field());
    RAMPART_TRY(state.known_from, read_time(in));
    RAMPART_RETURN_IF_ERROR(read_list(in, read_report, state.reports));
    if (state.reports.size() > kMaxReports) return bad_state("has too many reports");
    RAMPART_RETURN_IF_ERROR(read_list(in, read_version, state.versions));
    if (!in.empty()) return bad_state("is followed by other bytes");
    return state;
}

}  // namespace rampart::joiner
