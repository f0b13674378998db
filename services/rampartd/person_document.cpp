#include "services/rampartd/person_document.hpp"

#include <algorithm>
#include <set>

#include "rampart/base/digest.hpp"
#include "rampart/http/response.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/override_json.hpp"
#include "rampart/wire/record_codec.hpp"

namespace rampart::rampartd {

using base::Result;
using base::TimePoint;
using data_retention::HeldDecision;
using data_retention::HeldJob;
using data_retention::HeldRecord;
using data_retention::PersonRecord;
using data_retention::RecordKind;
using http::json_quoted;

namespace {

/// An object of JSON, whose members are given as JSON texts.
class Object {
  public:
    Object& put(std::string_view name, const std::string& json) {
        text_ += fmt::format("{}{}:{}", text_.empty() ? "{" : ",", json_quoted(name), json);
        return *this;
    }
    Object& text(std::string_view name, std::string_view value) {
        return put(name, json_quoted(value));
    }
    Object& time(std::string_view name, TimePoint at) { return text(name, base::to_iso8601(at)); }
    Object& time(std::string_view name, const std::optional<TimePoint>& at) {
        return at ? time(name, *at) : put(name, "null");
    }
    template <class Number>
    Object& number(std::string_view name, Number value) {
        return put(name, fmt::format("{}", value));
    }
    std::string json() const { return text_.empty() ? "{}" : text_ + '}'; }

  private:
    std::string text_;
};

template <class Range, class ToJson>
std::string array(const Range& values, const ToJson& to_text) {
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "" : ",") + to_text(value);
    return '[' + text + ']';
}

std::string map_json(const std::map<std::string, std::string>& values) {
    Object object;
    for (const auto& [name, value] : values) object.text(name, value);
    return object.json();
}

std::string report_json(const joiner::Report& report) {
    Object object;
    object.text("measure", report.measure).number("revision", report.revision);
    if (report.censored) object.put("censored", "true");
    if (!report.censored) object.number("value", report.value);
    return object.time("observed_at", report.observed_at).time("known_at", report.known_at).json();
}

std::string version_json(const joiner::Version& version) {
    Object object;
    object.text("measure", version.measure).number("version", version.version);
    if (version.value) object.number("value", *version.value);
    if (version.censored) object.put("censored", "true");
    return object.number("revision", version.revision)
        .time("matured_at", version.matured_at)
        .time("known_at", version.known_at)
        .json();
}

std::string taken_json(const joiner::TakenAction& taken) {
    return Object()
        .number("revision", taken.revision)
        .text("action_taken", domain::to_string(taken.action))
        .text("actor", taken.actor)
        .text("reason", taken.reason)
        .time("at", taken.at)
        .time("known_at", taken.known_at)
        .json();
}

std::string review_json(const joiner::JoinState& state, const domain::Decision& decision) {
    const auto open = joiner::open_review(state, decision);
    if (!open) return "null";
    return Object()
        .time("since", open->since)
        .put("referred", open->referred ? "true" : "false")
        .text("actor", open->actor)
        .text("reason", open->reason)
        .json();
}

std::string decision_json(const std::string& id, const HeldDecision& held) {
    Object object;
    object.text("decision_id", id);
    const auto& decision = held.joined ? held.joined : held.indexed;
    object.put("arrived", held.joined ? "true" : "false");
    object.put("decision", decision ? wire::to_json(*decision) : "null");
    if (held.joined && held.indexed && *held.joined != *held.indexed)
        object.put("decision_in_index", wire::to_json(*held.indexed));
    object.put("in_index", held.indexed ? "true" : "false");
    object.time("known_from", held.state.known_from);
    object.put("outcomes", array(held.state.reports, report_json));
    object.put("joined", array(held.state.versions, version_json));
    object.put("overrides", array(held.state.taken, taken_json));
    object.put("open_review", held.joined ? review_json(held.state, *held.joined) : "null");
    return object.put("explanation", held.explanation.value_or("null")).json();
}

/// Returns what the value of a record says as a member of its kind; nullopt: it cannot be read.
std::optional<std::pair<std::string, std::string>> content_of(RecordKind kind,
                                                              const streaming::Record& record) {
    using Member = std::pair<std::string, std::string>;
    if (wire::is_erasure(record)) return Member("erasure", "true");
    if (kind == RecordKind::kApplication) {
        if (const auto one = wire::decode_application(record.value))
            return Member("application", wire::to_json(*one));
    } else if (kind == RecordKind::kDecision) {
        if (const auto one = wire::decode_decision(record.value))
            return Member("decision", wire::to_json(*one));
    } else if (kind == RecordKind::kAttributes) {
        if (const auto one = protected_attributes::decode(record.value))
            return Member("protected_attributes", protected_attributes::to_json(*one));
    } else if (kind == RecordKind::kOutcome) {
        if (const auto event = wire::decode_outcome_event(record)) {
            if (const auto* outcome = std::get_if<domain::Outcome>(&*event))
                return Member("outcome", wire::to_json(*outcome));
            return Member("override", wire::to_json(std::get<domain::Override>(*event)));
        }
    }
    return std::nullopt;
}

std::string record_json(const HeldRecord& held) {
    const auto& [partition, offset, record, seal, appended_at] = held.stored;
    Object object;
    object.text("place", data_retention::to_string(held.place))
        .text("topic", held.topic)
        .number("partition", partition.value())
        .number("offset", offset.value())
        .time("event_time", record.timestamp)
        .time("appended_at", appended_at)
        .put("sealed", seal == streaming::Seal::kNone ? "false" : "true")
        .text("key", record.key);
    Object headers;
    for (const auto& header : record.headers) headers.text(header.name, header.value);
    object.put("headers", headers.json());
    if (!held.reason.empty()) object.text("reason", held.reason).text("message", held.message);
    if (const auto content = content_of(held.kind, record))
        return object.put(content->first, content->second).json();
    return object.text("value_text", record.value)
        .text("value_hex", base::to_hex(record.value))
        .json();
}

std::string hold_json(const privacy::Hold& hold) {
    return Object()
        .text("matter", hold.matter)
        .text("reason", hold.reason)
        .text("actor", hold.actor)
        .time("since", hold.since)
        .time("until", hold.until)
        .json();
}

std::string job_json(const HeldJob& job) {
    Object object;
    object.text("id", job.id).text("kind", job.kind).text("state", job.state);
    object.time("asked_at", job.asked_at);
    if (!job.request.empty()) object.put("request", job.request);
    if (!job.kept.empty()) object.put("kept", job.kept);
    if (!job.result.empty()) object.put("result", job.result);
    if (!job.error.empty()) object.text("error", job.error);
    return object.json();
}

std::string certificate_json(const CertificateOfPolicy& certificate) {
    const auto& info = certificate.info;
    return Object()
        .text("certificate", certificate.name)
        .text("verdict", info.verdict)
        .text("reference", info.reference.value())
        .time("stored_at", info.stored_at)
        .time("valid_until", info.valid_until)
        .json();
}

std::string evidence_json(const EvidenceOfPerson& evidence) {
    return Object()
        .text("certificate", evidence.certificate)
        .put("records", array(evidence.records, [](const auto& one) { return one; }))
        .json();
}

std::string policy_json(const PolicyOfPerson& policy) {
    Object object;
    object.text("policy_id", policy.id.value());  // the SHA-256 of its file
    if (const auto& info = policy.registered)
        object.text("file", "registry/models/" + policy.id.value() + ".rmp")
            .time("registered_at", info->registered_at)
            .text("actor", info->actor)
            .number("bytes", info->bytes);
    return object.put("facts", map_json(policy.facts))
        .put("certificates", array(policy.certificates, certificate_json))
        .json();
}

std::string attributes_json(const PersonRecord& record) {
    const auto version = [](const auto& one) {
        return Object()
            .time("since", one.since)
            .put("record", protected_attributes::to_json(one.record))
            .json();
    };
    return Object()
        .put("latest", record.attributes ? protected_attributes::to_json(*record.attributes)
                                         : std::string("null"))
        .put("versions", array(record.attribute_versions, version))
        .json();
}

std::string erasure_json(const PersonRecord& record) {
    if (!record.erasure) return "null";
    const auto decision = [](const privacy::PendingDecision& one) {
        Object object;
        object.text("decision_id", one.id);
        if (const auto& details = one.details)
            object.text("application_id", details->application)
                .time("event_time", details->event_time)
                .time("decided_at", details->decided_at);
        return object.json();
    };
    return Object()
        .time("asked_at", record.erasure->asked_at)
        .put("decisions", array(record.erasure->decisions, decision))
        .json();
}

}  // namespace

Result<PersonInRegistry> in_registry(const PersonRecord& record,
                                     const registry::ModelRegistry& registry) {
    std::set<std::string> ids;
    for (const auto& [id, held] : record.decisions) {
        if (held.joined) ids.insert(held.joined->policy.value());
        if (held.indexed) ids.insert(held.indexed->policy.value());
    }
    RAMPART_TRY(const auto models, registry.models());
    RAMPART_TRY(const auto certificates, registry.certificates());
    // read after both, so that it knows each certificate that they name
    RAMPART_TRY(const auto names, registry::CertificateNames::read(registry));
    PersonInRegistry found;
    for (const auto& [certificate, records] : record.evidence)
        found.evidence.push_back({names.name_of(certificate), records});
    for (const auto& entry : record.audit) found.audit.push_back(registry::shown(entry, names));
    for (const auto& id : ids) {
        auto& policy =
            found.policies.emplace_back(PolicyOfPerson{domain::PolicyId(id), std::nullopt});
        const auto info = std::find_if(models.begin(), models.end(),
                                       [&](const auto& one) { return one.id == policy.id; });
        for (const auto& one : certificates)
            if (one.candidate == policy.id)
                policy.certificates.push_back({names.name_of(one.id), one});
        if (info == models.end()) continue;
        policy.registered = *info;
        const auto loaded = registry.load_model(policy.id);
        if (!loaded) return loaded.error().with_context("registry, model " + id);
        policy.facts = loaded->policy.printed_facts();
    }
    return found;
}

std::string to_json(const PersonRecord& record, const PersonInRegistry& registered) {
    std::string decisions;
    for (const auto& [id, held] : record.decisions)
        decisions += (decisions.empty() ? "" : ",") + decision_json(id, held);
    return Object()
        .text("person_id", record.person.value())
        .text("person", base::to_hex(record.tag.value()))
        .time("at", record.at)
        .time("erased_at", record.erased_at())
        .put("nothing_held", record.empty() ? "true" : "false")
        .put("decisions", '[' + decisions + ']')
        .put("log", array(record.log, record_json))
        .put("quarantine", array(record.quarantine, record_json))
        .put("protected_attributes", attributes_json(record))
        .number("person_keys", record.keys)
        .put("legal_holds", array(record.holds, hold_json))
        .put("erasure_under_way", erasure_json(record))
        .put("jobs", array(record.jobs, job_json))
        .put("evidence", array(registered.evidence, evidence_json))
        .put("audit",
             array(registered.audit, [](const auto& one) { return registry::to_json(one); }))
        .put("policies", array(registered.policies, policy_json))
        .number("records_that_name_others", record.of_others)
        .number("unattributed", record.unattributed)
        .put("elsewhere", array(record.elsewhere, [](const auto& one) { return json_quoted(one); }))
        .json();
}

}  // namespace rampart::rampartd
