#include "rampart/champion_monitor/monitor_report.hpp"

#include <boost/json.hpp>
#include <cmath>

namespace rampart::champion_monitor {
namespace {

namespace json = boost::json;

json::value number(double x) { return std::isfinite(x) ? json::value(x) : json::value(nullptr); }

json::value optional_number(const std::optional<double>& x) {
    return x ? number(*x) : json::value(nullptr);
}

json::object to_json(const monitoring::GroupState& group) {
    json::value level = nullptr;
    if (group.level) {
        level = json::object{{"mean", group.level->mean},
                             {"at_most", number(group.level->at_most)},
                             {"log_wealth", number(group.level->log_wealth)},
                             {"below", group.level->below}};
    }
    return json::object{{"group", group.name},
                        {"blind", group.blind},
                        {"persons", group.persons},
                        {"repeats", group.repeats},
                        {"missing", group.missing},
                        {"unsupported", group.unsupported},
                        {"out_of_range", group.out_of_range},
                        {"change", group.change},
                        {"at_most", number(group.at_most)},
                        {"shown", json::array{number(group.shown_lo), number(group.shown_hi)}},
                        {"log_wealth", number(group.log_wealth)},
                        {"since", group.since},
                        {"change_since", number(group.change_since)},
                        {"worse", group.worse},
                        {"level", level},
                        {"alarm", group.alarm()}};
}

json::object to_json(const Watch& watch) {
    json::value alarm = nullptr;
    if (watch.alarm) {
        alarm = json::object{{"at", base::to_iso8601(watch.alarm->at)},
                             {"groups", watch.alarm->groups}};
    }
    json::array groups;
    for (const auto& group : watch.state.groups) groups.push_back(to_json(group));
    return json::object{{"promotion", watch.promotion},
                        {"policy", watch.policy.value()},
                        {"previous", watch.previous.value()},
                        {"since", base::to_iso8601(watch.since)},
                        {"decides", watch.decides},
                        {"alarm", alarm},
                        {"problem", watch.problem},
                        {"log_needed", watch.state.log_needed},
                        {"groups", groups}};
}

}  // namespace

std::string to_json(const MonitorSettings& settings, const std::optional<Look>& look,
                    const CertificateEnd& certificate, const std::string& why_not) {
    json::array watches;
    if (look) {
        for (const auto& watch : look->watches) watches.push_back(to_json(watch));
    }
    const json::value until =
        certificate.at ? json::value(base::to_iso8601(*certificate.at)) : json::value(nullptr);
    const json::value as_of = look ? json::value(base::to_iso8601(look->at)) : json::value(nullptr);
    return json::serialize(json::object{{"enabled", settings.enabled && why_not.empty()},
                                        {"why_not", why_not},
                                        {"action", settings.rollback ? "rollback" : "alarm"},
                                        {"delta", settings.config.delta},
                                        {"margin", settings.config.margin},
                                        {"floor", optional_number(settings.config.floor)},
                                        {"every_days", settings.every_days},
                                        {"as_of", as_of},
                                        {"champion_certified_until", until},
                                        {"champion_certificate_expired", certificate.expired},
                                        {"watches", watches}});
}

}  // namespace rampart::champion_monitor
