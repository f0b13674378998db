#include "rampart/wire/outcome_json.hpp"

#include "json_writer.hpp"
#include "record_json.hpp"

namespace rampart::wire {

using base::Result;
using domain::Outcome;

namespace {

Result<Outcome> read_outcome(const JsonValue& value, const std::string& path) {
    ObjectReader object(value, path);
    Outcome outcome;
    outcome.decision = domain::DecisionId(object.string("decision_id"));
    outcome.measure = object.string("measure");
    outcome.censored = object.has("censored") && object.boolean("censored");
    if (!outcome.censored || object.has("value")) outcome.value = object.number("value");
    outcome.revision = object.count("revision", 0);
    outcome.observed_at = object.time("observed_at");
    RAMPART_RETURN_IF_ERROR(object.finish());
    RAMPART_RETURN_IF_ERROR(at_path(domain::validate(outcome), path));
    return outcome;
}

}  // namespace

Result<Outcome> outcome_from_json(std::string_view json) {
    RAMPART_TRY(const auto document, parse_json(json));
    return read_outcome(document, "");
}

Result<OutcomesRequest> outcomes_from_json(std::string_view json) {
    RAMPART_TRY(const auto document, parse_json(json));
    OutcomesRequest request;
    request.batch =
        document.kind == JsonValue::Kind::kObject && ObjectReader(document, "").has("outcomes");
    if (request.batch) {
        RAMPART_TRY(request.outcomes, read_batch<Outcome>(document, "outcomes", read_outcome));
    } else {
        RAMPART_TRY(auto outcome, read_outcome(document, ""));
        request.outcomes.push_back(std::move(outcome));
    }
    return request;
}

std::string to_json(const Outcome& outcome) {
    const std::string what = outcome.censored
                                 ? R"("censored":true)"
                                 : fmt::format(R"("value":{})", json_number(outcome.value));
    return fmt::format(R"({{"decision_id":{},"measure":{},{},"revision":{},"observed_at":{}}})",
                       json_string(outcome.decision.value()), json_string(outcome.measure), what,
                       outcome.revision, json_time(outcome.observed_at));
}

std::string to_json(std::span<const Outcome> outcomes) { return batch_json("outcomes", outcomes); }

}  // namespace rampart::wire
