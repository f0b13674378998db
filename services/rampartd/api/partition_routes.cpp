#include "services/rampartd/api/partition_routes.hpp"

#include <map>

#include "rampart/decision_log/reasons.hpp"
#include "rampart/joiner/reasons.hpp"
#include "services/rampartd/api/places.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using http::Lane;
using streaming::PartitionId;

namespace {

Json to_json(const joiner::Counts& counts) {
    return Json::object({{"decisions", counts.decisions},
                         {"duplicate_decisions", counts.duplicate_decisions},
                         {"conflicting_decisions", counts.conflicting_decisions},
                         {"outcomes", counts.outcomes},
                         {"duplicate_outcomes", counts.duplicate_outcomes},
                         {"conflicting_outcomes", counts.conflicting_outcomes},
                         {"corrections", counts.corrections},
                         {"late_outcomes", counts.late_outcomes},
                         {"undecodable", counts.undecodable},
                         {"matured", counts.matured},
                         {"unmatched", counts.unmatched},
                         {"overdue", counts.overdue},
                         {"fenced", counts.fenced},
                         {"appended_late", counts.appended_late}});
}

Json to_json(const decision_log::IndexCounts& counts) {
    return Json::object({{"decisions", counts.decisions},
                         {"repeated", counts.repeated},
                         {"fenced", counts.fenced},
                         {"passed_over", counts.passed_over}});
}

/// `decided`: nullptr where the partition is not decided here.
Json to_json(const joiner::PartitionState& state, const decision_log::PartitionView* decided,
             bool audit) {
    std::vector<Json::Member> bookmarks;
    for (const auto& [source, bookmark] : state.bookmarks) {
        bookmarks.emplace_back(source, bookmark.next.value());
    }
    std::vector<Json::Member> members{
        {"partition", state.partition.value()},
        {"state_hash", audit ? Json(state.hash.hex()) : Json(nullptr)},
        {"fence", state.fence},
        {"next", Json::object(bookmarks)},
        {"clock", state.clock ? Json(base::to_iso8601(*state.clock)) : Json(nullptr)},
        {"counts", to_json(state.counts)}};
    if (decided == nullptr) {
        members.emplace_back("role", "follows");
        return Json::object(members);
    }
    members.emplace_back("role", decided->status ? "decides" : "stopped");
    members.emplace_back("epoch", decided->epoch);
    members.emplace_back("index", to_json(decided->counts));
    if (!decided->status) members.emplace_back("why", decided->status.error().message);
    return Json::object(members);
}

/// Writes down a gap of the log of decisions or of the joiner.
template <typename AcceptedGap>
Json gap_to_json(const AcceptedGap& gap) {
    return Json::object({{"holder", gap.holder.value()},
                         {"topic", gap.topic},
                         {"partition", partition_to_json(gap.partition)},
                         {"why", gap.why.message},
                         {"from", gap.from.value()},
                         {"to", gap.to.value()}});
}

http::Response accepted_response(const std::vector<Json>& accepted, bool index_accepted,
                                 bool keys_accepted = false) {
    return json_response(Json::object({{"accepted", Json::array(accepted)},
                                       {"index_accepted", index_accepted},
                                       {"keys_accepted", keys_accepted}}));
}

}  // namespace

Result<http::Response> PartitionRoutes::handle_partitions() const {
    RAMPART_TRY(const auto states, deps_.joiner.partition_states());
    std::map<PartitionId, decision_log::PartitionView> decided;
    for (auto& view : deps_.decisions.partitions()) {
        decided.emplace(view.partition, std::move(view));
    }
    std::vector<Json> partitions, stopped;
    for (const auto& state : states) {
        const auto it = decided.find(state.partition);
        partitions.push_back(
            to_json(state, it == decided.end() ? nullptr : &it->second, deps_.audit));
        if (it != decided.end()) decided.erase(it);
    }
    for (const auto& [partition, view] : decided) {  // and not joined here
        const joiner::PartitionState none{partition, {}, view.fence.epoch, {}, {}, {}};
        partitions.push_back(to_json(none, &view, false));
    }
    for (const auto& source : deps_.applications.stopped()) {
        stopped.push_back(stopped_to_json(deps_.topics.applications, source.source, source.error));
    }
    for (const auto& source : deps_.stopped()) {
        stopped.push_back(stopped_to_json(source.topic, source.partition, source.error));
    }
    return json_response(
        Json::object({{"partitions", Json::array(partitions)}, {"stopped", Json::array(stopped)}}));
}

Result<http::Response> PartitionRoutes::handle_resume(const http::Request& request) const {
    RAMPART_TRY(const auto members,
                text_members(request.body,
                             {"topic", {"partition", MemberSpec::Kind::kPartition}, "reason"}));
    RAMPART_TRY(const auto place, place_of(members));
    RAMPART_RETURN_IF_ERROR(check_reason(members));
    // who wants it is on record before anything is given up
    RAMPART_RETURN_IF_ERROR(deps_.registry.record_operation(deps_.clock.now(), request.principal,
                                                            "accept_gap",
                                                            {{"topic", place.topic},
                                                             {"partition", members.at("partition")},
                                                             {"reason", members.at("reason")}}));
    if (deps_.resume_keys) {
        RAMPART_TRY(const bool keys, deps_.resume_keys(place.topic, place.partition));
        if (keys) return accepted_response({}, false, true);
    }
    std::vector<Json> out;
    if (place.topic == deps_.topics.applications) {
        RAMPART_TRY(const auto accepted, deps_.applications.accept_gap(place.partition));
        for (const auto& gap : accepted) out.push_back(gap_to_json(gap));
        return accepted_response(out, false);
    }
    bool index_accepted = false;
    if (place.topic == deps_.topics.decisions) {
        // the index of decisions reads the same topic, where this node decides
        const auto gaps = deps_.decisions.accept_gap(place.partition);
        if (!gaps && !gaps.error().is(decision_log::Reason::kNotOwner)) return gaps.error();
        index_accepted = gaps && !gaps->empty();
    }
    const auto accepted = deps_.joiner.accept_gap(place.topic, place.partition);
    if (!accepted && !(index_accepted && accepted.error().is(joiner::Reason::kNotStopped))) {
        return accepted.error();
    }
    for (const auto& gap : accepted.value_or(std::vector<joiner::AcceptedGap>())) {
        out.push_back(gap_to_json(gap));
    }
    return accepted_response(out, index_accepted);
}

void PartitionRoutes::add_to(http::Router& router) const {
    router.add("GET", "/v1/partitions", Scope::kRead,
               [self = *this](const auto&) { return respond(self.handle_partitions()); });
    router.add(
        "POST", "/v1/partitions/resume", Scope::kOperate,
        [self = *this](const auto& r) { return respond(self.handle_resume(r)); },
        Lane::kAdministrative);
}

}  // namespace rampart::rampartd
