#include "rampart/registry/champion_feed.hpp"

#include <algorithm>
#include <charconv>

#include "notice_message.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/log.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/streaming/bookmark.hpp"

namespace rampart::registry {
namespace {

using base::Result;
using base::Status;
using streaming::Offset;
using streaming::PartitionId;

constexpr base::Logger kLog("registry");
constexpr uint8_t kWithoutEpoch = 1;  // from an earlier release
constexpr uint8_t kFormat = 2;
constexpr std::string_view kContext = "rampart champion notice";
constexpr std::string_view kChampionKey = "champion";
constexpr size_t kReadBatch = 16;  // model files are large
const PartitionId kOnly(0);

std::string body_of(const ChampionNotice& notice) {
    std::string body;
    base::append_u8(body, notice.epoch == 0 ? kWithoutEpoch : kFormat);
    if (notice.epoch != 0) base::append_u64(body, notice.epoch);
    base::append_u64(body, notice.sequence);
    base::append_field(body, notice.policy.value());
    base::append_u8(body, notice.certified ? 1 : 0);
    return body;
}

/// Returns the key of a notice. Each epoch has one of its own: what a process writes late, that
/// trains no more, must not take the place of what counts when the topic is compacted.
std::string key_of(uint64_t epoch) {
    return epoch == 0 ? std::string(kChampionKey) : fmt::format("{}/{}", kChampionKey, epoch);
}

bool is_notice(std::string_view key) {
    return key == kChampionKey ||
           (key.starts_with(kChampionKey) && key.substr(kChampionKey.size()).starts_with('/'));
}

/// Returns the epoch of a notice by its key; 0: it is of none, or no notice.
uint64_t epoch_of(std::string_view key) {
    if (!is_notice(key) || key == kChampionKey) return 0;
    key.remove_prefix(kChampionKey.size() + 1);
    uint64_t epoch = 0;
    const auto [end, failure] = std::from_chars(key.data(), key.data() + key.size(), epoch);
    return failure == std::errc() && end == key.data() + key.size() ? epoch : 0;
}

bool comes_later(const ChampionNotice& notice, const std::optional<ChampionNotice>& than) {
    return !than ||
           std::pair(notice.epoch, notice.sequence) > std::pair(than->epoch, than->sequence);
}

/// Returns whether both are of one promotion, under whatever epoch it was said.
bool is_same(const ChampionNotice& a, const ChampionNotice& b) {
    return a.policy == b.policy && a.certified == b.certified && a.sequence == b.sequence;
}

}  // namespace

std::string encode(const ChampionNotice& notice, const base::SigningKey& key) {
    std::string bytes = body_of(notice);
    base::append_field(bytes, key.sign(notice_message(kContext, body_of(notice))));
    return bytes;
}

Result<ChampionNotice> decode_notice(std::string_view bytes, const base::VerifyingKey& key) {
    base::ByteReader in(bytes);
    RAMPART_TRY(const uint8_t format, in.u8());
    if (format != kFormat && format != kWithoutEpoch)
        return base::make_error(Reason::kBadNotice, "format {}, not {}", format, kFormat);
    ChampionNotice notice;
    if (format == kFormat) {
        RAMPART_TRY(notice.epoch, in.u64());
        if (notice.epoch == 0) return base::make_error(Reason::kBadNotice, "epoch 0");
    }
    RAMPART_TRY(notice.sequence, in.u64());
    RAMPART_TRY(const auto policy, in.field());
    notice.policy = domain::PolicyId(std::string(policy));
    RAMPART_TRY(const uint8_t certified, in.u8());
    notice.certified = certified == 1;
    const std::string_view body = bytes.substr(0, bytes.size() - in.rest().size());
    RAMPART_TRY(const auto signature, in.field());
    if (!in.empty() || certified > 1) return base::make_error(Reason::kBadNotice, "damaged");
    if (!key.verify(notice_message(kContext, body), signature)) {
        return base::make_error(certification::Reason::kBadSignature, "not signed by key {}",
                                key.id());
    }
    return notice;
}

Result<uint64_t> newest_epoch(const streaming::Reader& reader, std::string_view topic) {
    uint64_t newest = 0;
    RAMPART_TRY(Offset from, reader.begin_offset(topic, kOnly));
    while (true) {
        RAMPART_TRY(const auto records, reader.read(topic, kOnly, from, kReadBatch));
        if (records.empty()) return newest;
        for (const auto& stored : records) newest = std::max(newest, epoch_of(stored.record.key));
        from = Offset(records.back().offset.value() + 1);
    }
}

Status ChampionPublisher::publish(const Promotion& champion, const std::string& model_file,
                                  uint64_t epoch, const std::string& features) {
    if (is_published(champion, epoch)) return base::ok();
    if (model::policy_id_of(model_file) != champion.policy)
        return base::make_error(Reason::kModelDigest,
                                "the file to publish is not that of champion {}", champion.policy);
    const ChampionNotice notice{champion.sequence, champion.policy, champion.certified(), epoch};
    // the notice last: who reads it finds the others
    std::vector<streaming::Record> records;
    const auto add = [&](const std::string& key, const std::string& value) {
        records.push_back({key, value, champion.at, {}});
    };
    const bool with_model = !published_ || published_->sequence != champion.sequence;
    if (with_model) add(champion.policy.value(), model_file);
    const size_t notices = records.size();  // begin here
    if (!features.empty())
        add(schema_notice_key(epoch), encode(SchemaNotice{epoch, features}, key_));
    add(key_of(epoch), encode(notice, key_));
    RAMPART_TRY(const auto at, writer_.append_to(topic_, kOnly, records));
    const Offset model = with_model ? at.front().offset : published_->model;
    published_ = Published{epoch, champion.sequence, model, {}};
    for (size_t i = notices; i < records.size(); ++i)
        published_->notices.emplace_back(at[i].offset, std::move(records[i].value));
    return base::ok();
}

/// Returns whether the topic has the notices where they were written, and begins at or before the
/// file of the model: what cuts off the end takes the notices first, what cuts off the beginning
/// the file, and compaction one that another record has the key of.
Result<bool> ChampionPublisher::is_kept() const {
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic_, kOnly));
    if (published_->model < begin) return false;
    for (const auto& [offset, value] : published_->notices) {
        const auto found = reader_.read(topic_, kOnly, offset, 1);
        if (!found && streaming::is_gap(found.error())) return false;
        if (!found) return found.error();
        if (found->empty() || found->front().offset != offset ||
            found->front().record.value != value)
            return false;
    }
    return true;
}

Status ChampionPublisher::look_for_loss() {
    if (!published_) return base::ok();
    RAMPART_TRY(const bool kept, is_kept());
    if (kept) return base::ok();
    kLog.error(
        "msg=\"the topic of policies has lost the champion, which is published again\" topic={} "
        "sequence={} offset={}",
        topic_, published_->sequence, published_->notices.back().first);
    published_.reset();
    return base::ok();
}

Result<std::optional<std::string>> ChampionFollower::find_model(
    const domain::PolicyId& policy) const {
    RAMPART_TRY(auto found, find_models({&policy, 1}));
    return std::move(found.front());
}

Result<std::vector<std::optional<std::string>>> ChampionFollower::find_models(
    std::span<const domain::PolicyId> policies) const {
    std::vector<std::optional<std::string>> found(policies.size());
    RAMPART_TRY(Offset from, reader_.begin_offset(topic_, kOnly));
    while (true) {
        RAMPART_TRY(const auto records, reader_.read(topic_, kOnly, from, kReadBatch));
        if (records.empty()) return found;
        for (const auto& stored : records) {
            const auto& record = stored.record;
            for (size_t i = 0; i < policies.size(); ++i) {
                if (record.key == policies[i].value() &&
                    model::policy_id_of(record.value) == policies[i])
                    found[i] = record.value;
            }
        }
        from = Offset(records.back().offset.value() + 1);
    }
}

/// Returns the notice if one of the keys signed it for this epoch; the error of the first key
/// otherwise.
Result<SchemaNotice> ChampionFollower::verified_schema(const streaming::Record& record) const {
    auto notice = decode_schema_notice(record.value, keys_.front());
    for (size_t i = 1; i < keys_.size() && !notice; ++i) {
        if (auto other = decode_schema_notice(record.value, keys_[i])) notice = *std::move(other);
    }
    if (!notice || schema_notice_key(notice->epoch) == record.key) return notice;
    return base::make_error(certification::Reason::kBadSignature,
                            "signed for epoch {}, and written under '{}'", notice->epoch,
                            record.key);
}

/// Takes in the record of a schema, as read_on() does those of champions.
void ChampionFollower::read_schema(const streaming::StoredRecord& stored, Read& read) const {
    auto notice = verified_schema(stored.record);
    if (notice) {
        read.schemas.insert_or_assign(notice->epoch, *std::move(notice));
        return;
    }
    kLog.error("msg=\"schema notice passed over\" offset={} reason={}", stored.offset,
               notice.error().reason);
    auto why = notice.error().with_context(fmt::format(
        "the schema notice at offset {} of topic '{}' does not count", stored.offset, topic_));
    if (const auto epoch = epoch_of_schema_notice(stored.record.key))
        read.schemas.try_emplace(*epoch, std::move(why));
}

Result<std::optional<SchemaNotice>> ChampionFollower::schema() const {
    const auto found = schemas_.find(schema_epoch_);
    if (schema_epoch_ == 0 || found == schemas_.end()) return std::nullopt;
    return found->second.map([](const auto& notice) { return std::optional(notice); });
}

Result<std::optional<SchemaNotice>> ChampionFollower::find_schema() const {
    // compaction may have taken what this follower has read already
    Read from_begin{latest_, {}, {}, schemas_, {}};
    RAMPART_TRY(from_begin.end, reader_.begin_offset(topic_, kOnly));
    RAMPART_TRY(auto read, read_on(std::move(from_begin)));
    if (!read.latest) return std::nullopt;
    read.schemas.erase(read.schemas.upper_bound(read.latest->epoch), read.schemas.end());
    std::erase_if(read.schemas, [](const auto& one) { return !one.second; });
    if (read.schemas.empty()) return std::nullopt;
    return *std::prev(read.schemas.end())->second;
}

void ChampionFollower::start_anew() {
    started_ = false;
    latest_ = taken_ = std::nullopt;
    refused_ = unread_ = {};
    schemas_.clear();
}

/// Returns the notice if one of the keys signed it; the error of the first key otherwise.
Result<ChampionNotice> ChampionFollower::verified(std::string_view bytes) const {
    auto notice = decode_notice(bytes, keys_.front());
    for (size_t i = 1; i < keys_.size() && !notice; ++i) {
        if (auto other = decode_notice(bytes, keys_[i])) notice = *std::move(other);
    }
    return notice;
}

/// Reads to the end of the topic, from where `read` ends.
Result<ChampionFollower::Read> ChampionFollower::read_on(Read read) const {
    while (true) {
        RAMPART_TRY(const auto records, reader_.read(topic_, kOnly, read.end, kReadBatch));
        if (records.empty()) return read;
        for (const auto& stored : records) {
            if (is_schema_notice(stored.record.key)) read_schema(stored, read);
            if (!is_notice(stored.record.key)) continue;
            const auto notice = verified(stored.record.value);
            if (!notice) {
                kLog.error("msg=\"champion notice passed over\" offset={} reason={}", stored.offset,
                           notice.error().reason);
                read.unread = notice.error().with_context(
                    fmt::format("the champion's notice at offset {} of topic '{}' does not count",
                                stored.offset, topic_));
                continue;
            }
            read.notices.push_back(*notice);
            if (!comes_later(*notice, read.latest)) continue;
            read.latest = *notice;
            read.unread = {};
        }
        read.end = Offset(records.back().offset.value() + 1);
    }
}

/// Lets the champion decide by its file.
Status ChampionFollower::load_and_take(const ChampionNotice& notice,
                                       const std::optional<std::string>& file, const Take& take) {
    if (!file) return base::make_error(Reason::kNoModel, "topic '{}' has no model file", topic_);
    RAMPART_TRY(auto policy, model::decode_model_file(*file));
    RAMPART_RETURN_IF_ERROR(take(
        {notice, std::make_shared<const model::LoadedPolicy>(std::move(policy), notice.policy)}));
    taken_ = notice;
    return base::ok();
}

/// Takes the first of the notices, latest first, whose champion can decide. Those after the first
/// count only if each is of the promotion directly before.
Status ChampionFollower::take_first(std::vector<ChampionNotice> notices, const Take& take) {
    Status first;
    for (size_t i = 0; i < notices.size(); ++i) {
        if (i > 0 && notices[i].sequence + 1 != notices[i - 1].sequence) break;
        RAMPART_TRY(const auto file, find_model(notices[i].policy));
        const Status taken = load_and_take(notices[i], file, take);
        if (taken) break;
        kLog.error("msg=\"champion passed over\" policy={} sequence={} reason={} what=\"{}\"",
                   notices[i].policy, notices[i].sequence, taken.error().reason,
                   taken.error().message);
        if (i == 0) first = taken;
    }
    refused_ = first;
    if (first) return base::ok();
    const auto decides = taken_ ? fmt::format("{} decides", taken_->policy) : "none decides";
    refused_ = first.error().with_context(
        fmt::format("the champion {} (promotion {}) cannot decide here, and {}",
                    notices.front().policy, notices.front().sequence, decides));
    return base::ok();
}

Status ChampionFollower::follow(const Take& take) {
    if (!started_) {
        RAMPART_TRY(from_, reader_.begin_offset(topic_, kOnly));
        started_ = true;
    }
    auto whole = read_on({latest_, {}, unread_, schemas_, from_});
    if (!whole && streaming::is_gap(whole.error())) {
        // what was taken stays: only a later notice takes its place
        kLog.error(
            "msg=\"the topic of policies is another, and is read from its beginning\" what=\"{}\"",
            whole.error().message);
        RAMPART_TRY(from_, reader_.begin_offset(topic_, kOnly));
        whole = read_on({latest_, {}, unread_, schemas_, from_});
    }
    RAMPART_TRY(auto read, std::move(whole));
    schema_epoch_ = read.latest ? read.latest->epoch : 0;
    schemas_ = std::move(read.schemas);
    schemas_.erase(schemas_.begin(), schemas_.lower_bound(schema_epoch_));
    auto& notices = read.notices;
    std::erase_if(notices, [&](const auto& notice) { return !comes_later(notice, latest_); });
    // the latest first, and of each promotion what was said last
    std::sort(notices.begin(), notices.end(),
              [](const auto& a, const auto& b) { return comes_later(a, b); });
    const auto same = [](const auto& a, const auto& b) { return a.sequence == b.sequence; };
    notices.erase(std::unique(notices.begin(), notices.end(), same), notices.end());
    if (!notices.empty()) {
        const auto latest = notices.front();
        if (taken_ && is_same(*taken_, latest)) {
            taken_ = latest;  // said again under a later epoch
            refused_ = {};
        } else {
            RAMPART_RETURN_IF_ERROR(take_first(std::move(notices), take));
        }
        latest_ = latest;
    }
    unread_ = std::move(read.unread);
    from_ = read.end;
    return base::ok();
}

}  // namespace rampart::registry
