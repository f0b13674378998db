#include "rampart/authenticated_log/authenticated_log.hpp"

#include <algorithm>
#include <bit>

#include "rampart/authenticated_log/reasons.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/log.hpp"
#include "rampart/streaming/partitioner.hpp"

namespace rampart::authenticated_log {

using base::Result;
using streaming::Header;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Position;
using streaming::Record;
using streaming::StoredRecord;

namespace {

constexpr base::Logger kLog("authenticated_log");
constexpr std::string_view kPurpose = "rampart log record 1";

bool is_mac(const Header& header) { return header.name == kMacHeader; }

}  // namespace

AuthenticatedLog::AuthenticatedLog(const streaming::Reader& reader, streaming::Writer& writer,
                                   AuthenticatedTopics topics)
    : reader_(reader), writer_(writer), topics_(std::move(topics)) {
    RAMPART_CHECK(!topics_.keys.empty(), "a log without a key");
    for (const auto& topic : topics_.topics) counts_[topic] = 0;
}

std::string AuthenticatedLog::mac_of(std::string_view key, std::string_view topic,
                                     PartitionId partition, const Record& record) const {
    std::string text;
    base::append_field(text, kPurpose);
    base::append_field(text, topic);
    base::append_u32(text, static_cast<uint32_t>(partition.value()));
    base::append_field(text, record.key);
    base::append_field(text, record.value);
    for (const auto& header : record.headers) {
        if (is_mac(header)) continue;
        base::append_field(text, header.name);
        base::append_field(text, header.value);
    }
    const auto mac = base::hmac_sha256(key, text).bytes;
    return {mac.begin(), mac.end()};
}

/// Returns whether the record is to be passed on, and takes its MAC off.
bool AuthenticatedLog::take(std::string_view topic, StoredRecord& stored) const {
    auto& headers = stored.record.headers;
    const auto macs = std::count_if(headers.begin(), headers.end(), is_mac);
    if (macs == 0) {
        const auto& until = topics_.unauthenticated_until;
        return until && stored.appended_at && *stored.appended_at < *until;
    }
    const auto found = std::find_if(headers.begin(), headers.end(), is_mac);
    const bool valid =
        std::any_of(topics_.keys.begin(), topics_.keys.end(), [&](const std::string& key) {
            return base::constant_time_equal(found->value,
                                             mac_of(key, topic, stored.partition, stored.record));
        });
    if (macs != 1 || !valid) return false;
    headers.erase(found);
    return true;
}

/// Counts the record, and logs the 1st, 2nd, 4th, 8th … of the topic.
void AuthenticatedLog::note(std::string_view topic, const StoredRecord& stored) const {
    uint64_t count = 0;
    {
        const std::lock_guard lock(mutex_);
        count = ++counts_[std::string(topic)];
    }
    if (!std::has_single_bit(count)) return;
    kLog.error(
        "msg=\"a record without a valid MAC of the group was passed over\" topic={} partition={} "
        "offset={} passed_over={}",
        topic, stored.partition.value(), stored.offset.value(), count);
}

Result<std::string> AuthenticatedLog::identity(std::string_view topic) const {
    RAMPART_TRY(auto identity, reader_.identity(topic));
    if (!concerns(topic)) return identity;
    const std::lock_guard lock(mutex_);
    auto& known = identities_[std::string(topic)];
    if (known != identity)
        std::erase_if(passed_, [&](const auto& item) { return item.first.first == topic; });
    known = identity;
    return identity;
}

Result<std::vector<StoredRecord>> AuthenticatedLog::read(std::string_view topic,
                                                         PartitionId partition, Offset from,
                                                         size_t limit) const {
    if (!concerns(topic)) return reader_.read(topic, partition, from, limit);
    const Place place(topic, partition.value());
    Offset next = from;
    {
        const std::lock_guard lock(mutex_);
        const auto it = passed_.find(place);
        if (it != passed_.end() && it->second.from <= from && from < it->second.to)
            next = it->second.to;
    }
    while (true) {
        RAMPART_TRY(auto records, reader_.read(topic, partition, next, limit));
        if (records.empty()) break;
        next = Offset(records.back().offset.value() + 1);
        std::erase_if(records, [&](StoredRecord& stored) {
            if (take(topic, stored)) return false;
            note(topic, stored);
            return true;
        });
        if (!records.empty()) return records;
    }
    if (next > from) {
        const std::lock_guard lock(mutex_);
        passed_[place] = {from, next};
    }
    return std::vector<StoredRecord>();
}

/// Returns the records with their MACs. `partition`: nullopt: that of each record's key.
Result<std::vector<Record>> AuthenticatedLog::signed_records(
    std::string_view topic, std::optional<PartitionId> partition,
    std::span<const Record> records) const {
    std::vector<Record> out(records.begin(), records.end());
    int32_t count = 0;
    if (!partition) {
        RAMPART_TRY(count, reader_.partitions(topic));
    }
    for (auto& record : out) {
        if (std::any_of(record.headers.begin(), record.headers.end(), is_mac))
            return base::make_error(Reason::kReservedHeader, "a record has a header '{}'",
                                    kMacHeader);
        if (!partition && record.key.empty())
            return base::make_error(Reason::kReservedHeader,
                                    "a record for topic '{}' has neither key nor partition", topic);
        const auto to = partition ? *partition : streaming::partition_of(record.key, count);
        auto mac = mac_of(topics_.keys.front(), topic, to, record);
        record.headers.push_back({std::string(kMacHeader), std::move(mac)});
    }
    return out;
}

Result<std::vector<Position>> AuthenticatedLog::append(std::string_view topic,
                                                       std::span<const Record> records) {
    if (!concerns(topic)) return writer_.append(topic, records);
    RAMPART_TRY(const auto with_macs, signed_records(topic, std::nullopt, records));
    return writer_.append(topic, with_macs);
}

std::vector<Result<Position>> AuthenticatedLog::append_each(std::string_view topic,
                                                            std::span<const Record> records) {
    if (!concerns(topic)) return writer_.append_each(topic, records);
    const auto with_macs = signed_records(topic, std::nullopt, records);
    if (!with_macs) return std::vector<Result<Position>>(records.size(), with_macs.error());
    return writer_.append_each(topic, *with_macs);
}

Result<std::vector<Position>> AuthenticatedLog::append_to(std::string_view topic,
                                                          PartitionId partition,
                                                          std::span<const Record> records) {
    if (!concerns(topic)) return writer_.append_to(topic, partition, records);
    RAMPART_TRY(const auto with_macs, signed_records(topic, partition, records));
    return writer_.append_to(topic, partition, with_macs);
}

std::map<std::string, uint64_t> AuthenticatedLog::passed_over() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

}  // namespace rampart::authenticated_log
