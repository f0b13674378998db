#include "fuzz.hpp"
#include "json_reader.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/http/request.hpp"
#include "rampart/http/response.hpp"
#include "rampart/http/router.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/override_json.hpp"
#include "unit/wire/records.hpp"

/// Bytes that any client can send: request bodies, targets, and texts that are quoted in an answer.
namespace rampart::fuzz {
namespace {

using namespace wire::testing;
using base::Result;
using wire::encode;
using wire::to_json;
namespace limits = base::limits;

/// Checks one record: it is written in one way, reads back as itself, and fits into the log.
template <class Record, class Read, class Decode>
void holds(const Record& record, Read read, Decode decode) {
    const std::string json = to_json(record);
    const Result<Record> again = read(json);
    FUZZ_LAW(again.has_value(), "refuses what it wrote: {}", again.error().message);
    FUZZ_LAW(*again == record, "reads back another record");
    FUZZ_LAW(to_json(*again) == json, "writes one record in two ways");
    const Result<Record> logged = decode(encode(record));
    FUZZ_LAW(logged.has_value(), "the log refuses what came in: {}", logged.error().message);
    FUZZ_LAW(*logged == record, "the log holds another record");
}

bool applications(std::string_view json) {
    const auto request = wire::applications_from_json(json);
    if (!request) return refused(request.error());
    const auto& records = request->applications;
    FUZZ_LAW(!records.empty() && records.size() <= limits::kMaxBatch, "{}", records.size());
    FUZZ_LAW(request->batch || records.size() == 1, "{}", records.size());
    for (const auto& record : records) {
        FUZZ_LAW(record.features.size() <= limits::kMaxFeatures, "{}", record.features.size());
        holds(record, wire::application_from_json, wire::decode_application);
    }
    const auto batch = wire::applications_from_json(wire::to_json(records));
    FUZZ_LAW(batch && batch->batch && batch->applications == records, "the batch changed");
    return true;
}

bool outcomes(std::string_view json) {
    const auto request = wire::outcomes_from_json(json);
    if (!request) return refused(request.error());
    const auto& records = request->outcomes;
    FUZZ_LAW(!records.empty() && records.size() <= limits::kMaxBatch, "{}", records.size());
    for (const auto& record : records) {
        holds(record, wire::outcome_from_json, wire::decode_outcome);
    }
    const auto batch = wire::outcomes_from_json(wire::to_json(records));
    FUZZ_LAW(batch && batch->batch && batch->outcomes == records, "the batch changed");
    return true;
}

bool overrides(std::string_view json) {
    const auto request = wire::overrides_from_json(json);
    if (!request) return refused(request.error());
    const auto& records = request->overrides;
    FUZZ_LAW(!records.empty() && records.size() <= limits::kMaxBatch, "{}", records.size());
    for (const auto& record : records) {
        holds(record, wire::override_from_json, wire::decode_override);
    }
    const auto batch = wire::overrides_from_json(wire::to_json(records));
    FUZZ_LAW(batch && batch->batch && batch->overrides == records, "the batch changed");
    return true;
}

bool decisions(std::string_view json) {
    const auto records = wire::decisions_from_json(json);
    if (!records) return refused(records.error());
    for (const auto& record : *records) {
        holds(record, wire::decision_from_json, wire::decode_decision);
    }
    return true;
}

bool protected_record(std::string_view json) {
    using namespace protected_attributes;
    const auto record = parse_json(json);
    if (!record) return refused(record.error());
    holds(*record, parse_json, decode);
    return true;
}

std::string percent_encoded(std::string_view text) {
    std::string out;
    for (const char c : text) out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return out;
}

std::string target_of(const http::Request& request) {
    std::string target;
    for (const char c : request.path) target += c == '/' ? "/" : percent_encoded({&c, 1});
    char separator = '?';
    for (const auto& [name, value] : request.query) {
        target += separator + percent_encoded(name) + '=' + percent_encoded(value);
        separator = '&';
    }
    return target;
}

bool request_target(std::string_view target) {
    http::Request request;
    if (const auto status = http::parse_target(target, request); !status) {
        return refused(status.error());
    }
    FUZZ_LAW(request.path.starts_with('/') && request.path.find('\0') == std::string::npos,
             "path '{}'", request.path);
    http::Request again;
    FUZZ_LAW(http::parse_target(target_of(request), again).has_value(), "refuses '{}'",
             target_of(request));
    // an empty parameter between two '&' is skipped, one with an empty name and value is not
    // written
    FUZZ_LAW(again.path == request.path && again.query == request.query, "reads '{}' as another",
             target_of(request));
    return true;
}

const http::Router& router() {
    static const http::Router made = [] {
        http::Router routes(access::one_token("secret"));
        for (const char* pattern : {"/", "/v1/decisions", "/v1/decisions/{id}",
                                    "/v1/decisions/{id}/outcomes", "/v1/{kind}/all"}) {
            routes.add("GET", pattern, http::kOpen, [](const http::Request& request) {
                http::Response response{200, "{}", "application/json", {}};
                for (const auto& [name, value] : request.path_values) {
                    FUZZ_LAW(!value.empty() && value.find('/') == std::string::npos, "{} is '{}'",
                             name, value);
                }
                return response;
            });
        }
        routes.add("POST", "/v1/decisions", access::Scope::kRead,
                   [](const http::Request&) { return http::Response{}; });
        return routes;
    }();
    return made;
}

bool routed(std::string_view bytes) {
    Choices choices(bytes);
    http::Request request;
    request.method = choices.byte() % 2 == 0 ? "GET" : "POST";
    const std::string_view token = choices.text(choices.byte() % 16);
    request.headers.push_back({"Authorization", "Bearer " + std::string(token)});
    if (!http::parse_target(choices.rest(), request)) return false;
    const bool post = request.method == "POST";
    const auto response = router().handle(std::move(request));
    FUZZ_LAW(!post || response.status != 200 || token == "secret", "let in with '{}'", token);
    FUZZ_LAW(wire::parse_json(response.body.empty() ? "0" : response.body).has_value(),
             "the answer is no JSON: {}", response.body);
    return response.status == 200;
}

/// For any text, the answer that quotes it is JSON, and has the same text if JSON can express it.
bool quoted(std::string_view text) {
    if (text.size() > limits::kMaxTextBytes) return false;  // the limit of the reader
    const std::string json = http::json_quoted(text);
    const auto value = wire::parse_json(json);
    FUZZ_LAW(value && value->kind == wire::JsonValue::Kind::kString, "no JSON text: {}", json);
    const bool replaced = value->text.find("\xEF\xBF\xBD") != std::string::npos;
    FUZZ_LAW(replaced || value->text == text, "says something else: {}", json);
    return true;
}

std::vector<domain::Application> two_applications() {
    auto second = sample_application();
    second.id = domain::ApplicationId("a-2");
    second.features = {{"x", -1.5e-300}, {"y", std::string("\"\\\n")}};
    return {sample_application(), second};
}

using Seeds = std::vector<std::string>;

}  // namespace

std::vector<Target> targets() {
    return {
        {"applications", applications,
         [] {
             return Seeds{wire::to_json(sample_application()), wire::to_json(two_applications())};
         }},
        {"outcomes", outcomes,
         [] {
             const std::vector both{sample_outcome(), sample_outcome()};
             return Seeds{wire::to_json(sample_outcome()), wire::to_json(both)};
         }},
        {"decisions", decisions,
         [] { return Seeds{wire::to_json(std::vector{sample_decision()})}; }},
        {"protected", protected_record,
         [] {
             return Seeds{R"({"person_id":"p1","event_time":"2005-04-01T00:00:00Z",)"
                          R"("attributes":{"sex":"female"}})"};
         }},
        {"target", request_target, [] { return Seeds{"/v1/x%20y?a=1&b=%26+c&d"}; }},
        {"routed", routed,
         [] {
             return Seeds{std::string("\0\0/v1/decisions/d1", 18),
                          std::string("\1\6secret/v1/decisions", 21)};
         }},
        {"quoted", quoted, [] { return Seeds{"a \"text\" \xC3\xA9 \xF0\x9F\x99\x82 \x01\\"}; }},
        {"overrides", overrides,
         [] {
             const std::vector both{sample_override(), sample_override()};
             return Seeds{wire::to_json(sample_override()), wire::to_json(both)};
         }},
    };
}

}  // namespace rampart::fuzz
