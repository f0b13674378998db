#include <algorithm>
#include <tuple>

#include "application_lanes.hpp"
#include "rampart/wire/reasons.hpp"
#include "rampart/wire/record_codec.hpp"

/// What an operator does about applications: gaps and the quarantine.
namespace rampart::serving {

using base::Result;
using base::Status;
using decision_log::AcceptedGap;
using decision_log::DecisionIndex;
using streaming::Offset;
using streaming::PartitionId;

Result<std::vector<AcceptedGap>> ApplicationConsumer::accept_gap(PartitionId source) {
    const std::lock_guard lock(poll_mutex_);
    std::vector<AcceptedGap> accepted;
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index == nullptr) continue;
        RAMPART_TRY(auto gap, index->accept_gap(options_.applications_topic, source));
        if (gap) accepted.push_back(*std::move(gap));
        lane->loaded = false;
        lane->retry_at = {};
    }
    return accepted;
}

Result<Offset> ApplicationConsumer::settled(PartitionId source) {
    const std::lock_guard lock(poll_mutex_);
    const auto& topic = options_.applications_topic;
    if (lanes_.size() != static_cast<size_t>(deps_.decisions.partition_count())) return Offset(0);
    std::optional<Offset> until;
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index == nullptr || !lane->loaded || !lane->next.contains(source)) return Offset(0);
        RAMPART_TRY(const auto mark, index->bookmark(topic, source));
        if (!mark) return Offset(0);
        RAMPART_RETURN_IF_ERROR(
            index->put_progress(topic, {{source, *mark}}, {}, storage::Sync::kAlways));
        until = until ? std::min(*until, mark->next) : mark->next;
    }
    return until.value_or(Offset(0));
}

Result<std::vector<wire::Quarantined>> ApplicationConsumer::list_quarantined(size_t limit) const {
    const std::lock_guard lock(poll_mutex_);
    std::vector<wire::Quarantined> found;
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index == nullptr) continue;
        RAMPART_TRY(const auto some, index->quarantined(limit));
        found.insert(found.end(), some.begin(), some.end());
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::tie(a.topic, a.partition, a.offset) < std::tie(b.topic, b.partition, b.offset);
    });
    if (found.size() > limit) found.resize(limit);
    return found;
}

Status ApplicationConsumer::visit_quarantined(
    const std::function<Status(const wire::Quarantined&)>& visit) const {
    const std::lock_guard lock(poll_mutex_);
    for (const auto& lane : lanes_) {
        const DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index == nullptr) continue;
        RAMPART_RETURN_IF_ERROR(index->visit_quarantined(
            [&](const auto& one) { return visit(one).map([] { return true; }); }));
    }
    return base::ok();
}

Result<std::pair<DecisionIndex*, wire::Quarantined>> ApplicationConsumer::find_quarantined(
    PartitionId source, Offset offset) const {
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index == nullptr) continue;
        RAMPART_TRY(auto found,
                    index->find_quarantined(options_.applications_topic, source, offset));
        if (found) return std::pair(index, *std::move(found));
    }
    return base::make_error(wire::Reason::kNotQuarantined,
                            "offset {} of partition {} of topic '{}' is not in quarantine here",
                            offset, source, options_.applications_topic);
}

Result<std::optional<base::Error>> ApplicationConsumer::replay_quarantined(PartitionId source,
                                                                           Offset offset) {
    const std::lock_guard lock(poll_mutex_);
    RAMPART_TRY(const auto found, find_quarantined(source, offset));
    const auto& [index, quarantined] = found;
    const auto application = wire::decode_application(quarantined.record);
    if (!application) return std::optional(application.error());
    RAMPART_TRY(const auto results, deps_.decisions.decide_each({&*application, 1}));
    if (!results.front()) {
        const auto& why = results.front().error();
        if (is_about_the_record(why)) return std::optional(why);
        return why;
    }
    RAMPART_RETURN_IF_ERROR(index->drop_quarantined(quarantined));
    return std::optional<base::Error>();
}

Status ApplicationConsumer::drop_quarantined(PartitionId source, Offset offset) {
    const std::lock_guard lock(poll_mutex_);
    RAMPART_TRY(const auto found, find_quarantined(source, offset));
    return found.first->drop_quarantined(found.second);
}

Status ApplicationConsumer::drop_quarantined_if(
    const std::function<bool(const wire::Quarantined&)>& matches) {
    const std::lock_guard lock(poll_mutex_);
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index != nullptr) RAMPART_RETURN_IF_ERROR(index->drop_quarantined_if(matches));
    }
    return base::ok();
}

Status ApplicationConsumer::compact_erased() {
    const std::lock_guard lock(poll_mutex_);
    for (const auto& lane : lanes_) {
        DecisionIndex* index = deps_.decisions.index_of(lane->id);
        if (index != nullptr) RAMPART_RETURN_IF_ERROR(index->compact_erased({}));
    }
    return base::ok();
}

}  // namespace rampart::serving
