#include "rampart/base/limits.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/streaming/reasons.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/route_bodies.hpp"

namespace rampart::rampartd {

using base::Result;
namespace json = boost::json;

Result<http::Response> Node::take_clock(const http::Request& request) {
    if (!settings_.event_clock) {
        return base::make_error(
            Reason::kSystemClock,
            "time is the wall clock here; set clock.mode = \"event\" to replay a stream");
    }
    RAMPART_TRY(const auto members, text_members(request.body, {"now"}));
    RAMPART_TRY(const auto time, base::parse_iso8601(members.at("now")));
    constexpr int kMaxJumpMonths = 120;  // a mistyped year would let everything mature, for ever
    const auto clock = joiner_->clock();
    if (clock && time > base::add_months(*clock, kMaxJumpMonths)) {
        return base::make_error(
            Reason::kClockJumpTooFar,
            "$.now: {} is more than {} months after {}; move the clock in smaller steps",
            members.at("now"), kMaxJumpMonths, base::to_iso8601(*clock));
    }
    RAMPART_RETURN_IF_ERROR(advance(time));
    return json_response(json::object{{"now", base::to_iso8601(now())}});
}

Result<http::Response> Node::take_protected_attributes(const http::Request& request) {
    std::vector<protected_attributes::ProtectedAttributes> people;
    std::string_view rest = request.body;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        const auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.empty()) continue;
        if (people.size() == base::limits::kMaxBatch) {
            return base::make_error(streaming::Reason::kBatchTooLarge,
                                    "more than {} lines; send them in parts",
                                    base::limits::kMaxBatch);
        }
        auto person = protected_attributes::parse_json(line);
        if (!person) return person.error().with_context(fmt::format("line {}", people.size() + 1));
        people.push_back(std::move(*person));
    }
    if (people.empty())
        return base::make_error(Reason::kEmptyBatch,
                                "the body has no line; send one JSON object a line");
    RAMPART_RETURN_IF_ERROR(attributes_ ? attributes_->publish(people) : protected_->put(people));
    return json_response(json::object{{"accepted", people.size()}});
}

Result<http::Response> Node::take_rollback(const http::Request& request) {
    RAMPART_TRY(const auto members, text_members(request.body, {"actor", "reason"}));
    RAMPART_RETURN_IF_ERROR(rollback(members.at("actor"), members.at("reason")));
    return json_response(json::object{{"champion", registry_->champion()->policy.value()}});
}

Result<http::Response> Node::list_models() const {
    RAMPART_TRY(const auto models, registry_->models());
    const auto champion = registry_->champion();
    json::array out;
    for (const auto& model : models) {
        out.push_back(json::object{{"id", model.id.value()},
                                   {"registered_at", base::to_iso8601(model.registered_at)},
                                   {"bytes", model.bytes},
                                   {"champion", champion && champion->policy == model.id}});
    }
    return json_response(json::object{{"models", out}});
}

Result<http::Response> Node::list_runs() const {
    json::array out;
    if (!trainer_) return json_response(json::object{{"runs", out}});
    RAMPART_TRY(const auto runs, trainer_->runs());
    for (const auto& run : runs) out.push_back(json::parse(retraining::encode(run)));
    return json_response(json::object{{"runs", out}});
}

void Node::add_routes(http::Router& router) {
    using http::Access, http::Lane;
    decisions_->add_routes(router);
    // what may wait for a training run, or read a lot, is administrative; a rollback does neither,
    // and may not be refused
    router.add(
        "POST", "/v1/clock", Access::kToken,
        [this](const auto& r) { return respond(take_clock(r)); }, Lane::kAdministrative);
    router.add("POST", "/v1/clock/accept", Access::kToken,
               [this](const auto& r) { return respond(take_clock_acceptance(r)); });
    router.add(
        "POST", "/v1/protected-attributes", Access::kToken,
        [this](const auto& r) { return respond(take_protected_attributes(r)); }, Lane::kBulk);
    router.add("POST", "/v1/rollback", Access::kToken,
               [this](const auto& r) { return respond(take_rollback(r)); });
    router.add("GET", "/v1/models", Access::kToken,
               [this](const auto&) { return respond(list_models()); });
    add_partition_routes(router);
    add_privacy_routes(router);
    router.add(
        "GET", "/v1/monitor", Access::kToken,
        [this](const auto&) { return respond(show_monitor()); }, Lane::kAdministrative);
    router.add("GET", "/v1/runs", Access::kToken,
               [this](const auto&) { return respond(list_runs()); });
}

}  // namespace rampart::rampartd
