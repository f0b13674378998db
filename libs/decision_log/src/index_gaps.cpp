#include "index_keys.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/streaming/reasons.hpp"

/// Whether the log is still the one that an index was read from, and what to do if it is not.
namespace rampart::decision_log {

using base::Result;
using base::Status;
using streaming::Bookmark;
using streaming::Offset;
using streaming::PartitionId;

namespace {

const PartitionId kWholeTopic(-1);

}  // namespace

Result<std::optional<DecisionIndex::Topic>> DecisionIndex::known_topic(
    std::string_view topic) const {
    RAMPART_TRY(const auto bytes, database_->get(kMeta, topic_key(topic)));
    if (!bytes) return std::optional<Topic>();
    base::ByteReader in(*bytes);
    RAMPART_TRY(const auto identity, in.field());
    RAMPART_TRY(const uint32_t partitions, in.u32());
    return std::optional(Topic{std::string(identity), static_cast<int32_t>(partitions)});
}

Result<DecisionIndex::Topic> DecisionIndex::topic_now(std::string_view topic) const {
    Topic now;
    RAMPART_TRY(now.partitions, reader_.partitions(topic));
    RAMPART_TRY(now.identity, reader_.identity(topic));
    return now;
}

/// Whether the topic is the one that was read before.
Status DecisionIndex::check_topic(std::string_view topic) {
    RAMPART_TRY(const Topic now, topic_now(topic));
    RAMPART_TRY(const auto known, known_topic(topic));
    const bool decisions = topic == options_.decisions_topic;
    const int32_t expected = known       ? known->partitions
                             : decisions ? options_.partitions
                                         : now.partitions;
    if (known && known->identity != now.identity) {
        return base::make_error(streaming::Reason::kTopicRecreated,
                                "topic '{}' is '{}', and '{}' was read before: the log is another",
                                topic, now.identity, known->identity);
    }
    if (now.partitions != expected) {
        return base::make_error(streaming::Reason::kPartitionsChanged,
                                "topic '{}' has {} partitions, and {} are expected", topic,
                                now.partitions, expected);
    }
    if (known) return base::ok();
    storage::WriteBatch batch;
    put_topic(batch, topic, now);
    return database_->write(batch, storage::Sync::kAlways);
}

void DecisionIndex::put_topic(storage::WriteBatch& batch, std::string_view topic,
                              const Topic& now) {
    std::string value;
    base::append_field(value, now.identity);
    base::append_u32(value, static_cast<uint32_t>(now.partitions));
    batch.put(kMeta, topic_key(topic), value);
}

Status DecisionIndex::check(std::string_view topic, PartitionId partition,
                            streaming::SourceChecks& checks) {
    RAMPART_RETURN_IF_ERROR(check_topic(topic));
    RAMPART_TRY(auto mark, bookmark(topic, partition));
    // decisions are read from the first; of applications, what was dropped before is not for us
    if (!mark && topic != options_.decisions_topic) return base::ok();
    return checks.check(topic, partition, mark.value_or(Bookmark()));
}

base::Error DecisionIndex::cannot_be_made_anew(const std::string& why) const {
    return storage::state_damaged(options_.path,
                                  why +
                                      "; decisions would be forgotten: restore it from a "
                                      "backup");
}

/// Whether reading the log from its beginning gives back all that the index had. What cannot be
/// read of it any more is not asked.
Status DecisionIndex::check_log_is_whole() const {
    const auto& topic = options_.decisions_topic;
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic, options_.partition));
    if (begin > Offset(0)) {
        return cannot_be_made_anew(fmt::format("topic '{}' begins at {} by now", topic, begin));
    }
    RAMPART_TRY(const Topic now, topic_now(topic));
    const auto known = known_topic(topic);
    if (known && *known && (*known)->identity != now.identity) {
        return cannot_be_made_anew(fmt::format("topic '{}' is another", topic));
    }
    RAMPART_TRY(const Offset end, reader_.end_offset(topic, options_.partition));
    const auto mark = bookmark(topic, options_.partition);
    if (mark && *mark && end < (*mark)->next) {
        return cannot_be_made_anew(
            fmt::format("topic '{}' ends at {}, and was read to {}", topic, end, (*mark)->next));
    }
    return base::ok();
}

Status DecisionIndex::renew() {
    const std::lock_guard explaining(explaining_);  // none is kept for what the old one had
    RAMPART_TRY(const bool renewed, database_->renew([this] { return check_log_is_whole(); },
                                                     [this](storage::Database& database) {
                                                         return database.write(
                                                             first_batch(options_),
                                                             storage::Sync::kAlways);
                                                     }));
    if (!renewed) return base::ok();
    next_ = {};
    verified_ = false;
    const std::lock_guard lock(mutex_);
    fence_ = {};
    counts_ = {};
    return base::ok();
}

Result<std::optional<AcceptedGap>> DecisionIndex::accept_gap(std::string_view topic,
                                                             PartitionId partition) {
    const Status topic_fits = check_topic(topic);
    if (!topic_fits) {
        if (partition != kWholeTopic || !is_gap(topic_fits.error())) return topic_fits.error();
        return accept_topic(topic, topic_fits.error());
    }
    if (partition == kWholeTopic) return std::optional<AcceptedGap>();
    streaming::SourceChecks checks(reader_);
    const Status fit = check(topic, partition, checks);
    if (fit) return std::optional<AcceptedGap>();
    if (!is_gap(fit.error())) return fit.error();
    RAMPART_TRY(const auto before, bookmark(topic, partition));
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic, partition));
    if (topic == options_.decisions_topic) RAMPART_RETURN_IF_ERROR(database_->mark_beyond_log());
    RAMPART_RETURN_IF_ERROR(put_progress(topic, {{partition, {begin, ""}}}));
    if (topic == options_.decisions_topic) next_ = {begin, ""};
    return std::optional(AcceptedGap{options_.partition, std::string(topic), partition, fit.error(),
                                     before ? before->next : Offset(0), begin});
}

/// Takes the topic for what it is now. Offsets in another topic mean nothing in this one.
Result<std::optional<AcceptedGap>> DecisionIndex::accept_topic(std::string_view topic,
                                                               const base::Error& why) {
    RAMPART_TRY(const Topic now, topic_now(topic));
    const bool decisions = topic == options_.decisions_topic;
    if (decisions && now.partitions < options_.partitions) return why;
    if (decisions && why.is(streaming::Reason::kTopicRecreated)) {
        RAMPART_RETURN_IF_ERROR(database_->mark_beyond_log());
    }
    storage::WriteBatch batch;
    put_topic(batch, topic, now);
    if (why.is(streaming::Reason::kTopicRecreated)) {
        for (int32_t p = 0; p < now.partitions; ++p) {
            RAMPART_TRY(const auto old, bookmark(topic, PartitionId(p)));
            if (!old) continue;
            RAMPART_TRY(const Offset begin, reader_.begin_offset(topic, PartitionId(p)));
            batch.put(kMeta, bookmark_key(topic, PartitionId(p)),
                      streaming::encode(Bookmark{begin, ""}));
            if (decisions) next_ = {begin, ""};
        }
    }
    RAMPART_RETURN_IF_ERROR(database_->write(batch, storage::Sync::kAlways));
    return std::optional(
        AcceptedGap{options_.partition, std::string(topic), kWholeTopic, why, {}, {}});
}

}  // namespace rampart::decision_log
