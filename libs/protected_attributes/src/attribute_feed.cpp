#include "rampart/protected_attributes/attribute_feed.hpp"

#include <algorithm>
#include <charconv>

#include "rampart/base/log.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/streaming/bookmark.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::protected_attributes {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;
using streaming::Offset;
using streaming::PartitionId;

constexpr base::Logger kLog("protected_attributes");
constexpr size_t kReadBatch = 1000;
const PartitionId kOnly(0);
/// Decimal: microseconds of the clock of the node that the attributes were stated to.
constexpr std::string_view kStatedHeader = "stated";

/// Returns when the record was stated; `now` where it does not say so.
TimePoint stated_at(const streaming::Record& record, TimePoint now) {
    for (const auto& [name, value] : record.headers) {
        int64_t micros = 0;
        const auto* end = value.data() + value.size();
        if (name == kStatedHeader && std::from_chars(value.data(), end, micros).ptr == end)
            return TimePoint::from_micros(micros);
    }
    return now;
}

/// Returns what the record says of the person who is its key. Under another key it would stay in
/// the topic when its person is erased.
Result<ProtectedAttributes> read_record(const streaming::Record& record,
                                        const AttributeCatalog& catalog) {
    RAMPART_TRY(auto person, decode(record.value));
    if (person.person.value() != record.key)
        return base::make_error(Reason::kKeyDiffers, "the key is not the person's id");
    RAMPART_RETURN_IF_ERROR(catalog.check(person));
    return person;
}

}  // namespace

Status AttributeFeed::publish(std::span<const ProtectedAttributes> people, base::TimePoint now) {
    std::vector<streaming::Record> records;
    for (const auto& person : people) {
        RAMPART_RETURN_IF_ERROR(validate(person));
        RAMPART_RETURN_IF_ERROR(store_.catalog().check(person));
        records.push_back({person.person.value(),
                           encode(person),
                           person.event_time,
                           {{std::string(wire::kSchemaHeader), std::string(kSchema)},
                            {std::string(kStatedHeader), fmt::format("{}", now.micros())}}});
    }
    return writer_.append_to(topic_, kOnly, records).map([](const auto&) {});
}

Status AttributeFeed::publish_erasure(const domain::PersonId& person, base::TimePoint now) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("person_id", person.value()));
    const streaming::Record tombstone{person.value(), "", std::max(now, base::TimePoint()), {}};
    return writer_.append_to(topic_, kOnly, {&tombstone, 1}).map([](const auto&) {});
}

Status AttributeFeed::catch_up(TimePoint now) {
    const Status read = read_on(now);
    if (read || !streaming::is_gap(read.error())) return read;
    kLog.error(
        "msg=\"the topic of protected attributes is another, and is read from its beginning; what "
        "is known here stays\" reason={} what=\"{}\"",
        read.error().reason, read.error().message);
    started_ = false;
    return read_on(now);
}

Status AttributeFeed::read_on(TimePoint now) {
    if (!started_) {
        RAMPART_TRY(from_, reader_.begin_offset(topic_, kOnly));
        started_ = true;
    }
    // not further than to here, or it would not return while others write
    RAMPART_TRY(const Offset end, reader_.end_offset(topic_, kOnly));
    do {
        RAMPART_TRY(const auto records, reader_.read(topic_, kOnly, from_, kReadBatch));
        if (records.empty()) return base::ok();
        std::vector<ProtectedAttributes> people;  // stated at one time
        TimePoint stated;
        const auto store_people = [&] {
            const auto status = store_.put(people, stated);
            people.clear();
            return status;
        };
        for (const auto& stored : records) {
            if (stored.record.value.empty()) {
                RAMPART_RETURN_IF_ERROR(store_people());
                RAMPART_RETURN_IF_ERROR(store_.erase(domain::PersonId(stored.record.key)));
                continue;
            }
            auto person = read_record(stored.record, store_.catalog());
            if (person) {
                const TimePoint at = stated_at(stored.record, now);
                if (at != stated) RAMPART_RETURN_IF_ERROR(store_people());
                stated = at;
                people.push_back(*std::move(person));
            } else {
                kLog.error("msg=\"protected attributes passed over\" offset={} reason={}",
                           stored.offset, person.error().reason);
            }
        }
        RAMPART_RETURN_IF_ERROR(store_people());
        from_ = Offset(records.back().offset.value() + 1);
    } while (from_ < end);
    return base::ok();
}

}  // namespace rampart::protected_attributes
