#include "rampart/runtime/job_record.hpp"

#include <algorithm>
#include <array>

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/reasons.hpp"

namespace rampart::runtime {
namespace {

using base::Result;
namespace fs = std::filesystem;

constexpr std::string_view kMagic = "rampart job 1\n";
constexpr std::string_view kSuffix = ".job";
constexpr size_t kChecksumBytes = 32, kMostBytes = size_t{1} << 30;

constexpr std::array<base::EnumName<JobPhase>, 4> kPhases{{{JobPhase::kWaiting, "waiting"},
                                                           {JobPhase::kRunning, "running"},
                                                           {JobPhase::kDone, "done"},
                                                           {JobPhase::kFailed, "failed"}}};
using base::ErrorCode;
constexpr std::array kCodes{ErrorCode::kInvalidArgument,  ErrorCode::kNotFound,
                            ErrorCode::kAlreadyExists,    ErrorCode::kFailedPrecondition,
                            ErrorCode::kOutOfRange,       ErrorCode::kResourceExhausted,
                            ErrorCode::kPermissionDenied, ErrorCode::kUnavailable,
                            ErrorCode::kDataLoss,         ErrorCode::kInternal};

void append_time(std::string& out, const std::optional<base::TimePoint>& time) {
    base::append_u8(out, time ? 1 : 0);
    base::append_i64(out, time ? time->micros() : 0);
}

Result<std::optional<base::TimePoint>> read_time(base::ByteReader& reader) {
    RAMPART_TRY(const auto there, reader.u8());
    RAMPART_TRY(const auto micros, reader.i64());
    if (there == 0) return std::optional<base::TimePoint>();
    return std::optional(base::TimePoint::from_micros(micros));
}

Result<std::string> read_text(base::ByteReader& reader) {
    return reader.field().map([](std::string_view text) { return std::string(text); });
}

Result<std::optional<base::Error>> read_error(base::ByteReader& reader) {
    RAMPART_TRY(const auto code, read_text(reader));
    RAMPART_TRY(const auto reason, read_text(reader));
    RAMPART_TRY(const auto message, read_text(reader));
    if (code.empty()) return std::optional<base::Error>();
    for (const auto known : kCodes)
        if (base::to_string(known) == code)
            return std::optional(base::Error{known, reason, message});
    return base::make_error(Reason::kBadJobRecord, "'{}' is no code of an error", code);
}

Result<JobRecord> read_fields(base::ByteReader& reader) {
    JobRecord record;
    RAMPART_TRY(record.kind, read_text(reader));
    RAMPART_TRY(record.serial, reader.u64());
    RAMPART_TRY(const auto phase, reader.u8());
    if (phase >= kPhases.size())
        return base::make_error(Reason::kBadJobRecord, "{} is no phase of a job", phase);
    record.phase = static_cast<JobPhase>(phase);
    RAMPART_TRY(record.done, reader.u64());
    RAMPART_TRY(record.total, reader.u64());
    RAMPART_TRY(record.begun, reader.u64());
    RAMPART_TRY(const auto asked_at, reader.i64());
    record.asked_at = base::TimePoint::from_micros(asked_at);
    RAMPART_TRY(record.begun_at, read_time(reader));
    RAMPART_TRY(record.ended_at, read_time(reader));
    RAMPART_TRY(record.request, read_text(reader));
    RAMPART_TRY(record.kept, read_text(reader));
    RAMPART_TRY(record.result, read_text(reader));
    RAMPART_TRY(record.error, read_error(reader));
    if (!reader.empty()) return base::make_error(Reason::kBadJobRecord, "bytes follow its end");
    return record;
}

}  // namespace

std::string_view to_string(JobPhase phase) { return base::name_of(kPhases, phase); }

std::string encode_job(const JobRecord& record) {
    std::string out(kMagic);
    base::append_field(out, record.kind);
    base::append_u64(out, record.serial);
    base::append_u8(out, static_cast<uint8_t>(record.phase));
    base::append_u64(out, record.done);
    base::append_u64(out, record.total);
    base::append_u64(out, record.begun);
    base::append_i64(out, record.asked_at.micros());
    append_time(out, record.begun_at);
    append_time(out, record.ended_at);
    base::append_field(out, record.request);
    base::append_field(out, record.kept);
    base::append_field(out, record.result);
    const auto& error = record.error;
    base::append_field(out, error ? base::to_string(error->code) : "");
    base::append_field(out, error ? error->reason : "");
    base::append_field(out, error ? error->message : "");
    const auto digest = base::sha256(out).bytes;
    out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
    return out;
}

Result<JobRecord> decode_job(std::string_view id, std::string_view bytes) {
    const auto bad = [&](std::string_view why) {
        return base::make_error(Reason::kBadJobRecord, "the file '{}' of a job is damaged: {}",
                                job_file(id), why);
    };
    if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + kChecksumBytes)
        return bad("it does not begin as one, or is cut off");
    const auto body = bytes.substr(0, bytes.size() - kChecksumBytes);
    const auto digest = base::sha256(body).bytes;
    if (bytes.substr(body.size()) !=
        std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()))
        return bad("its checksum is another");
    base::ByteReader reader(body.substr(kMagic.size()));
    auto record = read_fields(reader);
    if (!record) return bad(record.error().message);
    record->id = id;
    return record;
}

std::string job_file(std::string_view id) { return std::string(id) + std::string(kSuffix); }

Result<JobsAtRest> read_jobs(const fs::path& folder) {
    JobsAtRest found;
    std::error_code failure;
    if (!fs::exists(folder, failure) && !failure) return found;
    for (auto it = fs::directory_iterator(folder, failure);
         !failure && it != fs::directory_iterator(); it.increment(failure)) {
        const auto& path = it->path();
        if (path.extension() != kSuffix) continue;
        const auto id = path.stem().string();
        const auto bytes = base::read_file(path, kMostBytes);
        if (!bytes && bytes.error().code == base::ErrorCode::kNotFound) continue;  // just dropped
        auto record = bytes ? decode_job(id, *bytes) : Result<JobRecord>(bytes.error());
        if (record) {
            found.records.push_back(std::move(*record));
        } else {
            found.unreadable.emplace_back(id, record.error());
        }
    }
    if (failure)
        return base::make_error(base::Reason::kIoError, "cannot list '{}': {}", folder.string(),
                                failure.message());
    std::sort(found.records.begin(), found.records.end(),
              [](const auto& a, const auto& b) { return a.serial < b.serial; });
    std::sort(found.unreadable.begin(), found.unreadable.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return found;
}

}  // namespace rampart::runtime
