#include "rampart/registry/assignment_feed.hpp"

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
constexpr size_t kReadBatch = 16;  // model files are large
const PartitionId kOnly(0);

}  // namespace

std::optional<AssignmentNotice> AssignmentPublisher::notice_of(
    const std::vector<AssignmentPeriod>& periods, const Promotion& champion, uint64_t epoch) const {
    if (periods.empty()) return std::nullopt;
    const auto& last = periods.back();
    AssignmentNotice notice;
    notice.epoch = epoch;
    notice.champion = champion.sequence;
    notice.change = 2 * periods.size() - (last.to ? 0 : 1);
    notice.arm_key = arm_key_;
    if (!last.to) notice.assignment = last.assignment;
    return notice;
}

Status AssignmentPublisher::publish(const AssignmentNotice& notice, const FileOf& file_of) {
    if (is_published(notice)) return base::ok();
    const auto at = notice.assignment ? notice.assignment->from : base::TimePoint();
    std::vector<streaming::Record> records;
    for (size_t i = 1; notice.assignment && i < notice.assignment->arms.size(); ++i) {
        const auto& policy = notice.assignment->arms[i].policy;
        RAMPART_TRY(auto file, file_of(policy));
        if (model::policy_id_of(file) != policy)
            return base::make_error(Reason::kModelDigest,
                                    "the file to publish is not that of challenger {}", policy);
        records.push_back({policy.value(), std::move(file), at, {}});
    }
    records.push_back({assignment_notice_key(notice.epoch), encode(notice, key_), at, {}});
    RAMPART_TRY(const auto places, writer_.append_to(topic_, kOnly, records));
    published_ = Published{notice, places.front().offset, places.back().offset};
    return base::ok();
}

/// Returns whether the topic has the notice where it was written, and begins before its files.
Result<bool> AssignmentPublisher::is_kept() const {
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic_, kOnly));
    if (published_->first < begin) return false;
    const auto found = reader_.read(topic_, kOnly, published_->last, 1);
    if (!found && streaming::is_gap(found.error())) return false;
    if (!found) return found.error();
    return !found->empty() && found->front().offset == published_->last &&
           found->front().record.value == encode(published_->notice, key_);
}

Status AssignmentPublisher::look_for_loss() {
    if (!published_) return base::ok();
    RAMPART_TRY(const bool kept, is_kept());
    if (kept) return base::ok();
    kLog.error(
        "msg=\"the topic of policies has lost the assignment, which is published again\" topic={} "
        "change={}",
        topic_, published_->notice.change);
    published_.reset();
    return base::ok();
}

/// Returns the notice if one of the keys signed it for the epoch of its record; the error of the
/// first key otherwise.
Result<AssignmentNotice> AssignmentFollower::verified(const streaming::Record& record) const {
    auto notice = decode_assignment_notice(record.value, keys_.front());
    for (size_t i = 1; i < keys_.size() && !notice; ++i) {
        if (auto other = decode_assignment_notice(record.value, keys_[i]))
            notice = *std::move(other);
    }
    if (!notice || assignment_notice_key(notice->epoch) == record.key) return notice;
    return base::make_error(certification::Reason::kBadSignature,
                            "signed for epoch {}, and written under '{}'", notice->epoch,
                            record.key);
}

/// Reads to the end of the topic, from where `read` ends.
Result<AssignmentFollower::Read> AssignmentFollower::read_on(Read read) const {
    while (true) {
        RAMPART_TRY(const auto records, reader_.read(topic_, kOnly, read.end, kReadBatch));
        if (records.empty()) return read;
        for (const auto& stored : records) {
            if (!is_assignment_notice(stored.record.key)) continue;
            auto notice = verified(stored.record);
            if (!notice) {
                kLog.error("msg=\"assignment notice passed over\" offset={} reason={}",
                           stored.offset, notice.error().reason);
                continue;
            }
            const auto [at, first] = read.latest.try_emplace(notice->epoch, *notice);
            // what is written again late, of an assignment that has ended, changes nothing
            if (!first && notice->change >= at->second.change) at->second = *std::move(notice);
        }
        read.end = Offset(records.back().offset.value() + 1);
    }
}

Status AssignmentFollower::follow() {
    if (!started_) {
        RAMPART_TRY(read_.end, reader_.begin_offset(topic_, kOnly));
        started_ = true;
    }
    auto read = read_on(read_);
    if (!read && streaming::is_gap(read.error())) {
        Read anew{read_.latest, {}};
        RAMPART_TRY(anew.end, reader_.begin_offset(topic_, kOnly));
        read = read_on(std::move(anew));
    }
    if (!read) return read.error();
    read_ = *std::move(read);
    return base::ok();
}

std::optional<AssignmentNotice> AssignmentFollower::beside(const ChampionNotice& champion) const {
    const auto found = read_.latest.find(champion.epoch);
    if (found == read_.latest.end() || found->second.champion != champion.sequence)
        return std::nullopt;
    return found->second;
}

}  // namespace rampart::registry
