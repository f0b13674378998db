#include "rampart/wire/event_codec.hpp"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "parse_message.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/domain/reasons.hpp"
#include "rampart/v1/application.pb.h"
#include "rampart/v1/decision.pb.h"
#include "rampart/v1/erasure.pb.h"
#include "rampart/v1/labeled_example.pb.h"
#include "rampart/v1/outcome.pb.h"
#include "rampart/v1/override.pb.h"
#include "rampart/wire/reasons.hpp"

namespace rampart::wire {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;

Status read_time(std::string_view field, int64_t micros, TimePoint& out) {
    out = TimePoint::from_micros(micros);
    return base::check_time(field, out);
}

/// A message with all its parts in one block of memory: otherwise each feature of an application is
/// allocated separately, which costs more than encoding or decoding it.
template <class Message>
class Scratch {
  public:
    Scratch() : arena_(block_.data(), block_.size()) {
        message_ = google::protobuf::Arena::CreateMessage<Message>(&arena_);
    }
    Message& operator*() { return *message_; }

  private:
    alignas(8) std::array<char, 4096> block_;  // larger messages continue on the heap
    google::protobuf::Arena arena_;
    Message* message_;
};

void write(const domain::Application& from, v1::Application& to) {
    to.set_application_id(from.id.value());
    to.set_person_id(from.person.value());
    to.set_event_time_micros(from.event_time.micros());
    to.mutable_features()->Reserve(static_cast<int>(from.features.size()));
    for (const auto& [name, value] : from.features) {
        auto* feature = to.add_features();
        feature->set_name(name);
        if (const auto* number = std::get_if<double>(&value)) feature->set_number(*number);
        if (const auto* text = std::get_if<std::string>(&value)) feature->set_category(*text);
    }
}

Status read(const v1::Application& from, domain::Application& to) {
    to.id = domain::ApplicationId(from.application_id());
    to.person = domain::PersonId(from.person_id());
    RAMPART_RETURN_IF_ERROR(read_time("event_time", from.event_time_micros(), to.event_time));
    to.features.reserve(static_cast<size_t>(from.features_size()));
    for (const auto& feature : from.features()) {
        auto& [name, value] = to.features.emplace_back();
        name = feature.name();
        switch (feature.value_case()) {
            case v1::Feature::kNumber:
                value = feature.number();
                break;
            case v1::Feature::kCategory:
                value = feature.category();
                break;
            case v1::Feature::VALUE_NOT_SET:
                break;
        }
    }
    return base::ok();
}

v1::Action to_message(domain::Action action) {
    switch (action) {
        case domain::Action::kApprove:
            return v1::ACTION_APPROVE;
        case domain::Action::kRefer:
            return v1::ACTION_REFER;
        case domain::Action::kDecline:
            break;
    }
    return v1::ACTION_DECLINE;
}

Status read(v1::Action from, const domain::DecisionId& decision, domain::Action& to) {
    switch (from) {
        case v1::ACTION_APPROVE:
            to = domain::Action::kApprove;
            return base::ok();
        case v1::ACTION_REFER:
            to = domain::Action::kRefer;
            return base::ok();
        case v1::ACTION_DECLINE:
            to = domain::Action::kDecline;
            return base::ok();
        default:
            return base::make_error(Reason::kBadAction,
                                    "decision {}: action {} is not approve, decline or refer",
                                    decision, static_cast<int>(from));
    }
}

void write(const domain::DrawWindow& from, v1::DrawWindow& to) {
    to.set_product(from.product);
    to.set_cool_off_days(static_cast<uint32_t>(from.cool_off_days));
    to.set_number(from.number);
}

domain::DrawWindow read(const v1::DrawWindow& from) {
    constexpr uint32_t kTooLong = domain::kMaxCoolOffDays + 1;  // which validate() refuses
    return {from.product(), static_cast<int>(std::min(from.cool_off_days(), kTooLong)),
            from.number()};
}

void write(const domain::Arm& from, v1::Arm& to) {
    to.set_assignment(from.assignment);
    to.set_number(from.number);
    to.set_draw(from.draw);
    to.set_key_id(from.key_id);
}

domain::Arm read(const v1::Arm& from) {
    return {from.assignment(), from.number(), from.draw(), from.key_id()};
}

void write(const domain::Decision& from, v1::Decision& to) {
    to.set_decision_id(from.id.value());
    write(from.application, *to.mutable_application());
    to.set_decided_at_micros(from.decided_at.micros());
    to.set_policy_id(from.policy.value());
    to.set_certified(from.certified);
    to.set_score(from.score);
    to.set_p_exploit(from.p_exploit);
    to.set_p_approve(from.p_approve);
    to.set_draw(from.draw);
    to.set_draw_key_id(from.draw_key_id);
    to.set_action(to_message(from.action));
    to.set_propensity(from.propensity);
    to.set_explored(from.explored);
    for (const auto& reason : from.reasons) to.add_reasons(reason);
    if (from.draw_window) write(*from.draw_window, *to.mutable_draw_window());
    to.set_p_refer(from.p_refer);
    to.set_exploration_spent(from.exploration_spent);
    if (from.arm) write(*from.arm, *to.mutable_arm());
    to.set_request_id(from.request_id);
}

Status read(const v1::Decision& from, domain::Decision& to) {
    to.id = domain::DecisionId(from.decision_id());
    RAMPART_RETURN_IF_ERROR(read(from.application(), to.application));
    RAMPART_RETURN_IF_ERROR(read_time("decided_at", from.decided_at_micros(), to.decided_at));
    RAMPART_RETURN_IF_ERROR(read(from.action(), to.id, to.action));
    to.policy = domain::PolicyId(from.policy_id());
    to.certified = from.certified();
    to.score = from.score();
    to.p_exploit = from.p_exploit();
    to.p_approve = from.p_approve();
    to.draw = from.draw();
    to.draw_key_id = from.draw_key_id();
    to.propensity = from.propensity();
    to.explored = from.explored();
    to.reasons.assign(from.reasons().begin(), from.reasons().end());
    if (from.has_draw_window()) to.draw_window = read(from.draw_window());
    to.p_refer = from.p_refer();
    to.exploration_spent = from.exploration_spent();
    if (from.has_arm()) to.arm = read(from.arm());
    to.request_id = from.request_id();
    return domain::validate(to);
}

void write(const domain::Override& from, v1::Override& to) {
    to.set_decision_id(from.decision.value());
    to.set_revision(from.revision);
    to.set_action_taken(to_message(from.action_taken));
    to.set_actor(from.actor);
    to.set_reason(from.reason);
    to.set_at_micros(from.at.micros());
}

Status read(const v1::Override& from, domain::Override& to) {
    to.decision = domain::DecisionId(from.decision_id());
    to.revision = from.revision();
    RAMPART_RETURN_IF_ERROR(read(from.action_taken(), to.decision, to.action_taken));
    to.actor = from.actor();
    to.reason = from.reason();
    RAMPART_RETURN_IF_ERROR(read_time("at", from.at_micros(), to.at));
    return domain::validate(to);
}

Status check_example(const domain::LabeledExample& example) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("measure", example.measure));
    if (example.value && !std::isfinite(*example.value)) {
        return base::make_error(domain::Reason::kBadOutcomeValue,
                                "example {}: the value of '{}' is not a finite number",
                                example.decision.id, example.measure);
    }
    if (example.value && example.censored) {
        return base::make_error(domain::Reason::kCensoredWithValue,
                                "example {}: '{}' is censored and has a value", example.decision.id,
                                example.measure);
    }
    if (example.overridden && example.overridden->decision != example.decision.id) {
        return base::make_error(Reason::kBadOverride, "example {}: its override is of decision {}",
                                example.decision.id, example.overridden->decision);
    }
    if (example.known_at < example.matured_at) {
        return base::make_error(base::Reason::kBadTime,
                                "example {}: known at {}, before it matured at {}",
                                example.decision.id, base::to_iso8601(example.known_at),
                                base::to_iso8601(example.matured_at));
    }
    return base::ok();
}

}  // namespace

std::string encode(const domain::Application& application) {
    Scratch<v1::Application> scratch;
    v1::Application& message = *scratch;
    write(application, message);
    return message.SerializeAsString();
}

std::string encode(const domain::Decision& decision) {
    Scratch<v1::Decision> scratch;
    v1::Decision& message = *scratch;
    write(decision, message);
    return message.SerializeAsString();
}

std::string encode(const domain::Outcome& outcome) {
    v1::Outcome message;
    message.set_decision_id(outcome.decision.value());
    message.set_measure(outcome.measure);
    message.set_revision(outcome.revision);
    message.set_value(outcome.value);
    message.set_observed_at_micros(outcome.observed_at.micros());
    message.set_censored(outcome.censored);
    return message.SerializeAsString();
}

std::string encode(const domain::Override& taken) {
    v1::Override message;
    write(taken, message);
    return message.SerializeAsString();
}

std::string encode(const domain::Erasure& erasure) {
    v1::Erasure message;
    message.set_decision_id(erasure.decision.value());
    message.set_at_micros(erasure.at.micros());
    return message.SerializeAsString();
}

std::string encode(const domain::LabeledExample& example) {
    Scratch<v1::LabeledExample> scratch;
    v1::LabeledExample& message = *scratch;
    write(example.decision, *message.mutable_decision());
    message.set_measure(example.measure);
    if (example.value) message.set_value(*example.value);
    message.set_revision(example.revision);
    message.set_matured_at_micros(example.matured_at.micros());
    message.set_known_at_micros(example.known_at.micros());
    message.set_version(example.version);
    message.set_censored(example.censored);
    if (example.overridden) write(*example.overridden, *message.mutable_overridden());
    return message.SerializeAsString();
}

Result<domain::Application> decode_application(std::string_view bytes) {
    Scratch<v1::Application> scratch;
    v1::Application& message = *scratch;
    domain::Application application;
    RAMPART_RETURN_IF_ERROR(parse(kApplicationSchema, bytes, message));
    RAMPART_RETURN_IF_ERROR(read(message, application));
    RAMPART_RETURN_IF_ERROR(domain::validate(application));
    return application;
}

Result<domain::Decision> decode_decision(std::string_view bytes) {
    Scratch<v1::Decision> scratch;
    v1::Decision& message = *scratch;
    domain::Decision decision;
    RAMPART_RETURN_IF_ERROR(parse(kDecisionSchema, bytes, message));
    RAMPART_RETURN_IF_ERROR(read(message, decision));
    return decision;
}

Result<domain::Outcome> decode_outcome(std::string_view bytes) {
    v1::Outcome message;
    RAMPART_RETURN_IF_ERROR(parse(kOutcomeSchema, bytes, message));
    domain::Outcome outcome;
    outcome.decision = domain::DecisionId(message.decision_id());
    outcome.measure = message.measure();
    outcome.revision = message.revision();
    outcome.value = message.value();
    RAMPART_RETURN_IF_ERROR(
        read_time("observed_at", message.observed_at_micros(), outcome.observed_at));
    outcome.censored = message.censored();
    RAMPART_RETURN_IF_ERROR(domain::validate(outcome));
    return outcome;
}

Result<domain::Override> decode_override(std::string_view bytes) {
    v1::Override message;
    domain::Override taken;
    RAMPART_RETURN_IF_ERROR(parse(kOverrideSchema, bytes, message));
    RAMPART_RETURN_IF_ERROR(read(message, taken));
    return taken;
}

Result<domain::Erasure> decode_erasure(std::string_view bytes) {
    v1::Erasure message;
    RAMPART_RETURN_IF_ERROR(parse(kErasureSchema, bytes, message));
    domain::Erasure erasure;
    erasure.decision = domain::DecisionId(message.decision_id());
    RAMPART_RETURN_IF_ERROR(read_time("at", message.at_micros(), erasure.at));
    RAMPART_RETURN_IF_ERROR(domain::validate(erasure));
    return erasure;
}

Result<domain::LabeledExample> decode_labeled_example(std::string_view bytes) {
    Scratch<v1::LabeledExample> scratch;
    v1::LabeledExample& message = *scratch;
    domain::LabeledExample example;
    RAMPART_RETURN_IF_ERROR(parse(kLabeledExampleSchema, bytes, message));
    RAMPART_RETURN_IF_ERROR(read(message.decision(), example.decision));
    example.measure = message.measure();
    if (message.has_value()) example.value = message.value();
    example.revision = message.revision();
    example.version = message.version();
    example.censored = message.censored();
    if (message.has_overridden()) {
        RAMPART_RETURN_IF_ERROR(read(message.overridden(), example.overridden.emplace()));
    }
    RAMPART_RETURN_IF_ERROR(
        read_time("matured_at", message.matured_at_micros(), example.matured_at));
    RAMPART_RETURN_IF_ERROR(read_time("known_at", message.known_at_micros(), example.known_at));
    RAMPART_RETURN_IF_ERROR(check_example(example));
    return example;
}

}  // namespace rampart::wire
