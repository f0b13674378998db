#include "rampart/registry/stop_feed.hpp"

#include <algorithm>

#include "rampart/base/bytes.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/streaming/reasons.hpp"

namespace rampart::registry {
namespace {

using base::Result;
using base::Status;
using streaming::Offset;
using streaming::PartitionId;

constexpr base::Logger kLog("registry");
constexpr uint8_t kFormat = 1;
constexpr size_t kReadBatch = 1000, kIdDigits = 32;
constexpr uint64_t kReadAnew = 1200;  // refreshes: ten minutes of two a second
constexpr std::string_view kInfix = "/stop/", kEnd = "/end";
const PartitionId kOnly(0);

base::Error bad(std::string_view what) {
    return base::make_error(Reason::kBadStop, "a record of a stop has a bad {}", what);
}

bool is_id(std::string_view text) {
    return text.size() == kIdDigits && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

StopNotice begin_of(const Stop& stop) {
    return {stop.id, stop.period.kind, false, stop.period.from, stop.period.who, stop.reason};
}

StopNotice end_of(const Stop& stop) {
    return {stop.id, stop.period.kind, true, *stop.period.to, stop.ended_by, stop.end_reason};
}

void end(Stop& stop, const StopNotice& notice) {
    if (stop.period.to) return;
    stop.period.to = std::max(notice.at, stop.period.from);
    stop.ended_by = notice.who;
    stop.end_reason = notice.reason;
}

}  // namespace

std::string key_of(std::string_view group, const StopNotice& notice) {
    return fmt::format("{}{}{}{}", group, kInfix, notice.id, notice.ends ? kEnd : "");
}

std::string encode(const StopNotice& notice) {
    std::string out;
    base::append_u8(out, kFormat);
    base::append_field(out, to_string(notice.kind));
    base::append_i64(out, notice.at.micros());
    base::append_field(out, notice.who);
    base::append_field(out, notice.reason);
    return out;
}

Result<StopNotice> decode_stop(std::string_view group, std::string_view key,
                               std::string_view bytes) {
    StopNotice notice;
    const auto prefix = fmt::format("{}{}", group, kInfix);
    if (!key.starts_with(prefix)) return bad("key");
    key.remove_prefix(prefix.size());
    notice.ends = key.ends_with(kEnd);
    if (notice.ends) key.remove_suffix(kEnd.size());
    if (!is_id(key)) return bad("id");
    notice.id = key;
    base::ByteReader in(bytes);
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format != kFormat) return bad("format");
    RAMPART_TRY(const auto name, in.field());
    const auto kind = domain::stop_kind_of(name);
    if (!kind) return bad("kind");
    notice.kind = *kind;
    RAMPART_TRY(const int64_t micros, in.i64());
    notice.at = base::TimePoint::from_micros(micros);
    if (!base::check_time("time of a stop", notice.at)) return bad("time");
    RAMPART_TRY(const auto who, in.field());
    RAMPART_TRY(const auto reason, in.field());
    notice.who = who;
    notice.reason = reason;
    const bool text = base::is_utf8(who) && base::is_utf8(reason);
    if (!text || who.empty() || who.size() > base::limits::kMaxNameBytes) return bad("actor");
    if (reason.size() > base::limits::kMaxTextBytes || !in.empty()) return bad("reason");
    return notice;
}

StopFeed::StopFeed(const streaming::Reader& reader, streaming::Writer& writer, std::string topic,
                   std::string group)
    : reader_(reader), writer_(writer), topic_(std::move(topic)), group_(std::move(group)) {}

Status StopFeed::start() {
    RAMPART_TRY(next_, reader_.begin_offset(topic_, kOnly));
    stops_.clear();
    ends_.clear();
    started_ = true;
    return base::ok();
}

Status StopFeed::refresh() {
    if (!started_ || ++refreshed_ % kReadAnew == 0) RAMPART_RETURN_IF_ERROR(start());
    bool anew = false;
    while (true) {
        const auto records = reader_.read(topic_, kOnly, next_, kReadBatch);
        const bool moved = !records && (records.error().is(streaming::Reason::kRetentionGap) ||
                                        records.error().is(streaming::Reason::kOffsetAhead));
        if (moved && !anew) {
            RAMPART_RETURN_IF_ERROR(start());
            anew = true;
            continue;
        }
        if (!records) return records.error();
        if (records->empty()) return base::ok();
        for (const auto& record : *records) apply(record);
        next_ = Offset(records->back().offset.value() + 1);
    }
}

void StopFeed::apply(const streaming::StoredRecord& stored) {
    const auto& [key, value, time, headers] = stored.record;
    if (!key.starts_with(fmt::format("{}{}", group_, kInfix))) return;  // a lease, another group
    const auto notice = decode_stop(group_, key, value);
    if (!notice) {
        kLog.error("msg=\"record of a stop passed over\" topic={} offset={} what=\"{}\"", topic_,
                   stored.offset, notice.error().message);
        return;
    }
    if (notice->ends) {
        const auto known = stops_.find(notice->id);
        if (known != stops_.end()) end(known->second, *notice);
        ends_.try_emplace(notice->id, *notice);
        return;
    }
    const auto [at, is_new] = stops_.try_emplace(
        notice->id,
        Stop{{notice->at, std::nullopt, notice->kind, notice->who}, notice->id, notice->reason});
    const auto ended = ends_.find(notice->id);  // written again after it
    if (is_new && ended != ends_.end()) end(at->second, ended->second);
}

Status StopFeed::append(const StopNotice& notice) {
    const streaming::Record record{key_of(group_, notice), encode(notice), notice.at, {}};
    return writer_.append_to(topic_, kOnly, {&record, 1}).map([](const auto&) {});
}

Status StopFeed::publish(const Stop& stop) {
    const auto known = stops_.find(stop.id);
    if (known == stops_.end()) RAMPART_RETURN_IF_ERROR(append(begin_of(stop)));
    if (!stop.period.to || ends_.contains(stop.id)) return base::ok();
    return append(end_of(stop));
}

}  // namespace rampart::registry
