#include "rampart/retraining/proposed.hpp"

#include <boost/json.hpp>

#include "rampart/base/digest.hpp"

namespace rampart::retraining {
namespace {

namespace json = boost::json;

json::value chance_of(const std::optional<double>& chance) {
    return chance ? json::value(*chance) : json::value(nullptr);
}

json::array groups_of(const training::Change& change) {
    json::array out;
    for (const auto& group : change.groups) {
        out.push_back({{"group", group.name},
                       {"persons", group.persons},
                       {"approved_before", group.approved_before},
                       {"approved_after", group.approved_after},
                       {"chance", chance_of(group.chance)}});
    }
    return out;
}

json::array plan_of(const training::Proposal& proposal) {
    json::array out;
    for (const auto& step : proposal.plan) {
        out.push_back({{"step", out.size() + 1},
                       {"changed", step.changed},
                       {"mean_change", step.mean_change},
                       {"distance", step.distance},
                       {"chance", chance_of(step.chance)}});
    }
    return out;
}

}  // namespace

std::string encode(const Proposed& made, bool with_file) {
    const auto& change = made.proposal.change;
    json::object out{{"candidate", made.id.value()},
                     {"champion", made.champion.value()},
                     {"as_known_at", base::to_iso8601(made.at)},
                     {"links", made.proposal.candidate.policy.links().size()},
                     {"persons", change.persons},
                     {"changed", change.changed},
                     {"raised", change.raised},
                     {"mean_change", change.mean_change},
                     {"largest_change", change.largest_change},
                     {"approved_before", change.approved_before},
                     {"approved_after", change.approved_after},
                     {"distance", change.distance},
                     {"chance", chance_of(change.chance)},
                     {"no_forecast", change.no_forecast},
                     {"groups", groups_of(change)},
                     {"figures", json::value_from(made.proposal.candidate.figures)},
                     {"plan", plan_of(made.proposal)},
                     {"reached", made.proposal.reached},
                     {"run", made.run ? json::parse(encode(*made.run)) : json::value(nullptr)}};
    if (with_file) out["file"] = base::to_base64(made.file);
    return json::serialize(out);
}

}  // namespace rampart::retraining
