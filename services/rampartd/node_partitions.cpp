#include "rampart/joiner/reasons.hpp"
#include "rampart/registry/reasons.hpp"
#include "services/decision_service/reasons.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/route_bodies.hpp"

namespace rampart::rampartd {

using base::Result;
using streaming::Offset;
using streaming::PartitionId;
namespace json = boost::json;

namespace {

constexpr size_t kMaxListed = 1000;  // of the quarantine, in one answer
constexpr int64_t kMaxPartition = 1'000'000;

struct Place {
    std::string topic;
    PartitionId partition;  // -1: "all"
};

Result<Place> place_of(const std::map<std::string, std::string>& members) {
    const auto& text = members.at("partition");
    if (text == "all") return Place{members.at("topic"), PartitionId(-1)};
    RAMPART_TRY(const int64_t p, number_of("partition", text, 0, kMaxPartition));
    return Place{members.at("topic"), PartitionId(static_cast<int32_t>(p))};
}

std::string text_of(PartitionId partition) {
    return partition.value() < 0 ? "all" : std::to_string(partition.value());
}

json::object to_json(const joiner::Counts& counts) {
    return {{"decisions", counts.decisions},
            {"duplicate_decisions", counts.duplicate_decisions},
            {"conflicting_decisions", counts.conflicting_decisions},
            {"outcomes", counts.outcomes},
            {"duplicate_outcomes", counts.duplicate_outcomes},
            {"conflicting_outcomes", counts.conflicting_outcomes},
            {"corrections", counts.corrections},
            {"late_outcomes", counts.late_outcomes},
            {"undecodable", counts.undecodable},
            {"matured", counts.matured},
            {"unmatched", counts.dangling},
            {"overdue", counts.overdue},
            {"fenced", counts.fenced}};
}

json::object to_json(const decision_service::IndexCounts& counts) {
    return {{"decisions", counts.decisions},
            {"repeated", counts.repeated},
            {"fenced", counts.fenced},
            {"passed_over", counts.passed_over}};
}

}  // namespace

bool Node::mend() {
    const bool more = decisions_->mend();
    const runtime::Labels joins{{"database", "joins"}};
    const auto upkeep = joiner_->upkeep();
    metrics_
        .counter("rampart_databases_set_aside_total",
                 "Damaged databases set aside, to be made anew from the log.", joins)
        .add(upkeep.set_aside - set_aside_.exchange(upkeep.set_aside));
    metrics_
        .gauge("rampart_partitions_rebuilding",
               "Partitions whose database is being made anew from the log.", joins)
        .set(static_cast<double>(upkeep.rebuilding));
    metrics_
        .gauge("rampart_partitions_refused",
               "Partitions whose damaged database cannot be made anew from the log.", joins)
        .set(static_cast<double>(upkeep.refused));
    return more;
}

Result<http::Response> Node::list_partitions() const {
    RAMPART_TRY(const auto states, joiner_->partition_states());
    std::map<PartitionId, decision_service::DecisionService::PartitionView> decided;
    for (auto& view : decisions_->partitions()) decided.emplace(view.partition, std::move(view));
    json::array partitions, stopped;
    for (const auto& state : states) {
        json::object bookmarks;
        for (const auto& [source, bookmark] : state.bookmarks) {
            bookmarks[source] = bookmark.next.value();
        }
        json::object one{{"partition", state.partition.value()},
                         {"state_hash", state.hash.hex()},
                         {"fence", state.fence},
                         {"next", std::move(bookmarks)},
                         {"counts", to_json(state.counts)},
                         {"role", "follows"}};
        if (const auto it = decided.find(state.partition); it != decided.end()) {
            one["role"] = it->second.status ? "decides" : "stopped";
            one["epoch"] = it->second.epoch;
            one["index"] = to_json(it->second.counts);
            if (!it->second.status) one["why"] = it->second.status.error().message;
        }
        partitions.push_back(std::move(one));
    }
    const auto add = [&](const std::string& topic, PartitionId partition,
                         const base::Error& error) {
        stopped.push_back(json::object{{"topic", topic},
                                       {"partition", text_of(partition)},
                                       {"reason", error.reason},
                                       {"message", error.message}});
    };
    for (const auto& source : applications_->stopped()) {
        add(log_->topics().applications, source.source, source.error);
    }
    const std::lock_guard lock(status_mutex_);
    for (const auto& source : stopped_) add(source.topic, source.partition, source.error);
    return json_response(json::object{{"partitions", partitions}, {"stopped", stopped}});
}

Result<http::Response> Node::take_resume(const http::Request& request) {
    RAMPART_TRY(const auto members,
                text_members(request.body, {"topic", "partition", "actor", "reason"}));
    RAMPART_TRY(const auto place, place_of(members));
    if (members.at("reason").empty()) {
        return base::make_error(registry::Reason::kReasonMissing,
                                "$.reason is empty; say why for the audit log");
    }
    // who wants it is on record before anything is given up
    RAMPART_RETURN_IF_ERROR(registry_->record_operation(clock_->now(), members.at("actor"),
                                                        "accept_gap",
                                                        {{"topic", place.topic},
                                                         {"partition", members.at("partition")},
                                                         {"reason", members.at("reason")}}));
    json::array out;
    const auto add = [&](const auto& gap) {
        out.push_back(json::object{{"holder", gap.holder.value()},
                                   {"topic", gap.topic},
                                   {"partition", text_of(gap.partition)},
                                   {"why", gap.why.message},
                                   {"from", gap.from.value()},
                                   {"to", gap.to.value()}});
    };
    if (place.topic == log_->topics().applications) {
        RAMPART_TRY(const auto accepted, applications_->accept_gap(place.partition));
        for (const auto& gap : accepted) add(gap);
        return json_response(json::object{{"accepted", out}, {"index_accepted", false}});
    }
    bool index_accepted = false;
    if (place.topic == log_->topics().decisions) {
        // the index of decisions reads the same topic, where this node decides
        const auto gaps = decisions_->accept_gap(place.partition);
        if (!gaps && !gaps.error().is(decision_service::Reason::kNotOwner)) return gaps.error();
        index_accepted = gaps && !gaps->empty();
    }
    const auto accepted = joiner_->accept_gap(place.topic, place.partition);
    if (!accepted && !(index_accepted && accepted.error().is(joiner::Reason::kNotStopped))) {
        return accepted.error();
    }
    for (const auto& gap : accepted.value_or(std::vector<joiner::AcceptedGap>())) add(gap);
    return json_response(json::object{{"accepted", out}, {"index_accepted", index_accepted}});
}

Result<http::Response> Node::list_quarantined() const {
    RAMPART_TRY(const auto applications, applications_->list_quarantined(kMaxListed));
    RAMPART_TRY(auto quarantined, joiner_->list_quarantined(kMaxListed));
    quarantined.insert(quarantined.begin(), applications.begin(), applications.end());
    json::array out;
    for (const auto& one : quarantined) {
        // not the content: it may hold what applicants told about themselves
        out.push_back(json::object{{"topic", one.topic},
                                   {"partition", text_of(one.partition)},
                                   {"offset", one.offset.value()},
                                   {"reason", one.reason},
                                   {"message", one.message},
                                   {"bytes", one.record.value.size()}});
    }
    return json_response(json::object{{"quarantined", out}});
}

Result<http::Response> Node::take_from_quarantine(const http::Request& request, bool replay) {
    RAMPART_TRY(const auto members,
                text_members(request.body, {"topic", "partition", "offset", "actor", "reason"}));
    RAMPART_TRY(const auto place, place_of(members));
    RAMPART_TRY(const int64_t number, number_of("offset", members.at("offset"), 0, INT64_MAX));
    const Offset offset(number);
    RAMPART_RETURN_IF_ERROR(registry_->record_operation(
        clock_->now(), members.at("actor"), replay ? "quarantine_replay" : "quarantine_drop",
        {{"topic", place.topic},
         {"partition", members.at("partition")},
         {"offset", members.at("offset")},
         {"reason", members.at("reason")}}));
    const bool application = place.topic == log_->topics().applications;
    if (!replay) {
        RAMPART_RETURN_IF_ERROR(
            application ? applications_->drop_quarantined(place.partition, offset)
                        : joiner_->drop_quarantined(place.topic, place.partition, offset));
        return json_response(json::object{{"dropped", true}});
    }
    RAMPART_TRY(const auto why,
                application ? applications_->replay_quarantined(place.partition, offset)
                            : joiner_->replay_quarantined(place.topic, place.partition, offset));
    if (!why) return json_response(json::object{{"applied", true}});
    return json_response(
        json::object{{"applied", false}, {"reason", why->reason}, {"message", why->message}});
}

void Node::add_partition_routes(http::Router& router) {
    using http::Access, http::Lane;
    router.add("GET", "/v1/partitions", Access::kToken,
               [this](const auto&) { return respond(list_partitions()); });
    router.add(
        "POST", "/v1/partitions/resume", Access::kToken,
        [this](const auto& r) { return respond(take_resume(r)); }, Lane::kAdministrative);
    router.add(
        "GET", "/v1/quarantine", Access::kToken,
        [this](const auto&) { return respond(list_quarantined()); }, Lane::kBulk);
    router.add(
        "POST", "/v1/quarantine/replay", Access::kToken,
        [this](const auto& r) { return respond(take_from_quarantine(r, true)); },
        Lane::kAdministrative);
    router.add(
        "POST", "/v1/quarantine/drop", Access::kToken,
        [this](const auto& r) { return respond(take_from_quarantine(r, false)); },
        Lane::kAdministrative);
}

}  // namespace rampart::rampartd
