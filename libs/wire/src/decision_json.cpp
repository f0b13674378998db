#include "rampart/wire/decision_json.hpp"

#include <algorithm>
#include <cmath>

#include "json_writer.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/reasons.hpp"
#include "record_json.hpp"

namespace rampart::wire {

using base::Result;
using domain::Decision;

domain::Action read_action(ObjectReader& object, std::string_view key) {
    const std::string text = object.string(key);
    for (const auto action :
         {domain::Action::kApprove, domain::Action::kDecline, domain::Action::kRefer}) {
        if (text == domain::to_string(action)) return action;
    }
    object.fail(base::make_error(Reason::kBadAction,
                                 "{}: '{}' is not 'approve', 'decline' or 'refer'",
                                 object.path_of(key), text.substr(0, 40)));
    return domain::Action::kDecline;
}

namespace {

Result<domain::DrawWindow> read_window(const JsonValue& value, const std::string& path) {
    ObjectReader object(value, path);
    domain::DrawWindow window;
    window.product = object.string("product");
    constexpr uint32_t kTooLong = domain::kMaxCoolOffDays + 1;  // which validate() refuses
    window.cool_off_days = static_cast<int>(std::min(object.count("cool_off_days", 0), kTooLong));
    const double number = object.number("number");
    RAMPART_RETURN_IF_ERROR(object.finish());
    if (std::floor(number) != number || std::abs(number) > 1e9) {
        return base::make_error(Reason::kNumberOutOfRange, "{}: {} is not the number of a window",
                                object.path_of("number"), number);
    }
    window.number = static_cast<int64_t>(number);
    return window;
}

Result<domain::Arm> read_arm(const JsonValue& value, const std::string& path) {
    ObjectReader object(value, path);
    domain::Arm arm;
    arm.assignment = object.string("assignment");
    arm.number = object.count("number", 0);
    arm.draw = object.number("draw");
    arm.key_id = object.string("key_id");
    RAMPART_RETURN_IF_ERROR(object.finish());
    return arm;
}

Result<Decision> read_decision(const JsonValue& value, const std::string& path) {
    ObjectReader object(value, path);
    Decision decision;
    decision.id = domain::DecisionId(object.string("decision_id"));
    decision.action = read_action(object, "action");
    decision.decided_at = object.time("decided_at");
    decision.policy = domain::PolicyId(object.string("policy_id"));
    decision.certified = object.boolean("certified");
    decision.score = object.number("score");
    decision.p_exploit = object.number("p_exploit");
    decision.p_approve = object.number("p_approve");
    decision.draw = object.number("draw");
    decision.draw_key_id = object.string("draw_key_id");
    decision.propensity = object.number("propensity");
    decision.explored = object.boolean("explored");
    decision.reasons = object.strings("reasons");
    const JsonValue* window = object.has("draw_window") ? object.value("draw_window") : nullptr;
    if (object.has("p_refer")) decision.p_refer = object.number("p_refer");
    if (object.has("exploration_spent")) {
        decision.exploration_spent = object.boolean("exploration_spent");
    }
    if (object.has("request_id")) decision.request_id = object.string("request_id");
    const JsonValue* arm = object.has("arm") ? object.value("arm") : nullptr;
    const JsonValue* application = object.value("application");
    if (object.has("unseen_categories")) static_cast<void>(object.strings("unseen_categories"));
    if (object.has("explanation")) static_cast<void>(object.string("explanation"));  // its address
    RAMPART_RETURN_IF_ERROR(object.finish());
    if (window != nullptr) {
        RAMPART_TRY(decision.draw_window, read_window(*window, object.path_of("draw_window")));
    }
    if (arm != nullptr) {
        RAMPART_TRY(decision.arm, read_arm(*arm, object.path_of("arm")));
    }
    RAMPART_TRY(decision.application,
                read_application(*application, object.path_of("application")));
    RAMPART_RETURN_IF_ERROR(at_path(domain::validate(decision), path));
    return decision;
}

std::string json_strings(std::span<const std::string> texts) {
    std::string json;
    for (const auto& text : texts) {
        if (!json.empty()) json += ',';
        json += json_string(text);
    }
    return json;
}

}  // namespace

std::string to_json(const Decision& decision, std::span<const std::string> unseen_categories) {
    const std::string reasons = json_strings(decision.reasons);
    std::string json = fmt::format(
        R"({{"decision_id":{},"action":"{}","decided_at":{},"policy_id":{},"certified":{},)",
        json_string(decision.id.value()), domain::to_string(decision.action),
        json_time(decision.decided_at), json_string(decision.policy.value()), decision.certified);
    json += fmt::format(
        R"("score":{},"p_exploit":{},"p_approve":{},"draw":{},"draw_key_id":{},"propensity":{},)",
        json_number(decision.score), json_number(decision.p_exploit),
        json_number(decision.p_approve), json_number(decision.draw),
        json_string(decision.draw_key_id), json_number(decision.propensity));
    if (const auto& window = decision.draw_window) {
        json += fmt::format(R"("draw_window":{{"product":{},"cool_off_days":{},"number":{}}},)",
                            json_string(window->product), window->cool_off_days, window->number);
    }
    if (decision.p_refer > 0)
        json += fmt::format(R"("p_refer":{},)", json_number(decision.p_refer));
    if (decision.exploration_spent) json += R"("exploration_spent":true,)";
    if (const auto& arm = decision.arm) {
        json += fmt::format(R"("arm":{{"assignment":{},"number":{},"draw":{},"key_id":{}}},)",
                            json_string(arm->assignment), arm->number, json_number(arm->draw),
                            json_string(arm->key_id));
    }
    if (!decision.request_id.empty())
        json += fmt::format(R"("request_id":{},)", json_string(decision.request_id));
    json += fmt::format(R"("explored":{},"reasons":[{}],"application":{})", decision.explored,
                        reasons, to_json(decision.application));
    if (!unseen_categories.empty()) {
        json += fmt::format(R"(,"unseen_categories":[{}])", json_strings(unseen_categories));
    }
    return json + "}";
}

std::string to_json(std::span<const Decision> decisions) {
    return batch_json("decisions", decisions);
}

Result<Decision> decision_from_json(std::string_view json) {
    RAMPART_TRY(const auto document, parse_json(json));
    return read_decision(document, "");
}

Result<std::vector<Decision>> decisions_from_json(std::string_view json) {
    RAMPART_TRY(const auto document, parse_json(json));
    return read_batch<Decision>(document, "decisions", read_decision);
}

}  // namespace rampart::wire
