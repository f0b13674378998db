#include "rampart/protected_attributes/attribute_feed.hpp"

#include <algorithm>

#include "rampart/base/log.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::protected_attributes {
namespace {

using base::Status;
using streaming::Offset;
using streaming::PartitionId;

constexpr base::Logger kLog("protected_attributes");
constexpr size_t kReadBatch = 1000;
const PartitionId kOnly(0);

}  // namespace

Status AttributeFeed::publish(std::span<const ProtectedAttributes> people) {
    std::vector<streaming::Record> records;
    for (const auto& person : people) {
        RAMPART_RETURN_IF_ERROR(validate(person));
        RAMPART_RETURN_IF_ERROR(store_.catalog().check(person));
        records.push_back({person.person.value(),
                           encode(person),
                           person.event_time,
                           {{std::string(wire::kSchemaHeader), std::string(kSchema)}}});
    }
    return writer_.append_to(topic_, kOnly, records).map([](const auto&) {});
}

Status AttributeFeed::publish_erasure(const domain::PersonId& person, base::TimePoint now) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("person_id", person.value()));
    const streaming::Record tombstone{person.value(), "", std::max(now, base::TimePoint()), {}};
    return writer_.append_to(topic_, kOnly, {&tombstone, 1}).map([](const auto&) {});
}

Status AttributeFeed::catch_up() {
    if (!started_) {
        RAMPART_TRY(from_, reader_.begin_offset(topic_, kOnly));
        started_ = true;
    }
    // not further than to here, or it would not return while others write
    RAMPART_TRY(const Offset end, reader_.end_offset(topic_, kOnly));
    do {
        RAMPART_TRY(const auto records, reader_.read(topic_, kOnly, from_, kReadBatch));
        if (records.empty()) return base::ok();
        std::vector<ProtectedAttributes> people;
        for (const auto& stored : records) {
            if (stored.record.value.empty()) {
                RAMPART_RETURN_IF_ERROR(store_.put(people));
                people.clear();
                RAMPART_RETURN_IF_ERROR(store_.erase(domain::PersonId(stored.record.key)));
                continue;
            }
            auto person = decode(stored.record.value);
            const Status valid = person ? store_.catalog().check(*person) : Status(person.error());
            if (valid) {
                people.push_back(*std::move(person));
            } else {
                kLog.error("msg=\"protected attributes passed over\" offset={} reason={}",
                           stored.offset, valid.error().reason);
            }
        }
        RAMPART_RETURN_IF_ERROR(store_.put(people));
        from_ = Offset(records.back().offset.value() + 1);
    } while (from_ < end);
    return base::ok();
}

}  // namespace rampart::protected_attributes
