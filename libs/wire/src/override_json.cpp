#include "rampart/wire/override_json.hpp"

#include "json_writer.hpp"
#include "rampart/domain/reasons.hpp"
#include "record_json.hpp"

namespace rampart::wire {

using base::Result;
using domain::Override;

namespace {

Result<Override> read_override(const JsonValue& value, const std::string& path) {
    ObjectReader object(value, path);
    Override taken;
    taken.decision = domain::DecisionId(object.string("decision_id"));
    taken.action_taken = read_action(object, "action_taken");
    taken.actor = object.string("actor");
    taken.reason = object.string("reason");
    taken.revision = object.count("revision", 0);
    taken.at = object.time("at");
    RAMPART_RETURN_IF_ERROR(object.finish());
    RAMPART_RETURN_IF_ERROR(at_path(domain::validate(taken), path));
    if (taken.action_taken != domain::Action::kRefer) return taken;
    const base::Status refers = base::make_error(
        domain::Reason::kOverrideRefers,
        "action_taken: an override is what people did, 'approve' or 'decline'; POST "
        "/v1/decisions/{}/review opens a review",
        taken.decision);
    return at_path(refers, path).error();
}

}  // namespace

Result<Override> override_from_json(std::string_view json) {
    RAMPART_TRY(const auto document, parse_json(json));
    return read_override(document, "");
}

Result<OverridesRequest> overrides_from_json(std::string_view json) {
    RAMPART_TRY(const auto document, parse_json(json));
    OverridesRequest request;
    request.batch =
        document.kind == JsonValue::Kind::kObject && ObjectReader(document, "").has("overrides");
    if (request.batch) {
        RAMPART_TRY(request.overrides, read_batch<Override>(document, "overrides", read_override));
    } else {
        RAMPART_TRY(auto taken, read_override(document, ""));
        request.overrides.push_back(std::move(taken));
    }
    return request;
}

std::string to_json(const Override& taken) {
    return fmt::format(
        R"({{"decision_id":{},"action_taken":"{}","actor":{},"reason":{},"revision":{},"at":{}}})",
        json_string(taken.decision.value()), domain::to_string(taken.action_taken),
        json_string(taken.actor), json_string(taken.reason), taken.revision, json_time(taken.at));
}

std::string to_json(std::span<const Override> overrides) {
    return batch_json("overrides", overrides);
}

}  // namespace rampart::wire
