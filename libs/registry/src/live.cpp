#include "rampart/registry/live.hpp"

#include <boost/json.hpp>

#include "rampart/registry/figures.hpp"

namespace rampart::registry {
namespace {

namespace json = boost::json;
using base::Result;
using base::TimePoint;

bool holds(TimePoint from, const std::optional<TimePoint>& to, TimePoint at) {
    return from <= at && (!to || at < *to);
}

json::value time_of(const std::optional<TimePoint>& time) {
    return time ? json::value(base::to_iso8601(*time)) : json::value(nullptr);
}

json::value text_of(const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::value(text);
}

json::value to_json(const Stop& stop) {
    return {{"kind", to_string(stop.period.kind)},
            {"from", base::to_iso8601(stop.period.from)},
            {"by", stop.period.who},
            {"reason", stop.reason},
            {"to", time_of(stop.period.to)},
            {"ended_by", text_of(stop.ended_by)},
            {"end_reason", text_of(stop.end_reason)}};
}

json::value to_json(const std::vector<domain::ArmShare>& arms) {
    json::array out;
    for (const auto& [policy, share] : arms)
        out.push_back({{"policy", policy.value()}, {"share", share}});
    return out;
}

json::value champion_of(const Live& live) {
    if (!live.champion) return nullptr;
    const auto& promotion = *live.champion;
    return {
        {"policy", promotion.policy.value()},
        {"since", base::to_iso8601(promotion.at)},
        {"kind", to_string(promotion.kind)},
        {"by", promotion.actor},
        {"reason", text_of(promotion.reason)},
        {"certificate", text_of(live.certificate)},
        {"proposal", live.proposal ? json::parse(to_json(*live.proposal)) : json::value(nullptr)}};
}

json::value value_of(const AssignmentPeriod& period) {
    const auto& [assignment, who, to, ended_by] = period;
    return {{"id", assignment.id},
            {"arms", to_json(assignment.arms)},
            {"from", base::to_iso8601(assignment.from)},
            {"by", who},
            {"to", time_of(to)},
            {"ended_by", text_of(ended_by)}};
}

json::value epoch_of(const Live& live) {
    if (!live.epoch) return nullptr;
    return {{"number", live.epoch->epoch},
            {"opened", base::to_iso8601(live.epoch->at)},
            {"delta", live.epoch->delta_epoch},
            {"note", text_of(live.epoch->note)}};
}

/// Returns the last epoch of the error budget that was opened by then.
Result<std::optional<certification::EpochOpened>> epoch_at(const ModelRegistry& registry,
                                                           TimePoint at) {
    std::optional<certification::EpochOpened> found;
    RAMPART_TRY(const auto entries, registry.ledger_entries());
    for (const auto& line : entries) {
        RAMPART_TRY(const auto entry, certification::decode_ledger_entry(line));
        const auto* opened = std::get_if<certification::EpochOpened>(&entry.body);
        if (opened != nullptr && opened->at <= at) found = *opened;
    }
    return found;
}

}  // namespace

Result<Live> live_at(const ModelRegistry& registry, TimePoint at) {
    Live live;
    live.at = at;
    live.champion = registry.live_at(at);
    if (live.champion && live.champion->certificate) {
        RAMPART_TRY(const auto names, CertificateNames::read(registry));
        live.certificate = names.name_of(*live.champion->certificate);
        live.proposal = registry.approval_of(*live.champion);
    }
    for (auto& one : registry.assignments()) {
        if (holds(one.assignment.from, one.to, at)) live.assignment = std::move(one);
    }
    bool rules = false;
    for (auto& stop : registry.stops()) {
        if (!holds(stop.period.from, stop.period.to, at)) continue;
        rules |= stop.period.kind == domain::StopKind::kRulesOnly;
        live.stops.push_back(std::move(stop));
    }
    RAMPART_TRY(live.epoch, epoch_at(registry, at));
    if (!live.champion) return live;
    if (rules) {
        live.decides = {{registry.promotions().front().policy, 1}};
    } else if (live.assignment) {
        live.decides = live.assignment->assignment.arms;
    } else {
        live.decides = {{live.champion->policy, 1}};
    }
    return live;
}

std::string to_json(const Live& live) {
    json::array stops;
    for (const auto& stop : live.stops) stops.push_back(to_json(stop));
    json::value assignment = nullptr;
    if (live.assignment) assignment = value_of(*live.assignment);
    return json::serialize(json::object{{"at", base::to_iso8601(live.at)},
                                        {"decides", to_json(live.decides)},
                                        {"champion", champion_of(live)},
                                        {"assignment", std::move(assignment)},
                                        {"stops", std::move(stops)},
                                        {"epoch", epoch_of(live)}});
}

std::string to_json(const AssignmentPeriod& period) { return json::serialize(value_of(period)); }

}  // namespace rampart::registry
