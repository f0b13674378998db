#include "rampart/wire/application_json.hpp"

#include "json_writer.hpp"
#include "rampart/base/reasons.hpp"
#include "record_json.hpp"

namespace rampart::wire {

using base::Result;
using domain::Application;
using Kind = JsonValue::Kind;

namespace {

Result<domain::FeatureValue> read_feature(const JsonValue& value, const std::string& path) {
    switch (value.kind) {
        case Kind::kNull:
            return domain::FeatureValue{};
        case Kind::kString:
            return domain::FeatureValue{value.text};
        case Kind::kNumber: {
            RAMPART_TRY(const double number, to_number(value, path));
            return domain::FeatureValue{number};
        }
        default:
            return base::make_error(base::Reason::kWrongType,
                                    "{}: must be a number, a string or null", path);
    }
}

}  // namespace

Result<Application> read_application(const JsonValue& value, const std::string& path) {
    ObjectReader object(value, path);
    Application application;
    application.id = domain::ApplicationId(object.string("application_id"));
    application.person = domain::PersonId(object.string("person_id"));
    application.event_time = object.time("event_time");
    const JsonValue* features = object.value("features");
    RAMPART_RETURN_IF_ERROR(object.finish());
    const std::string features_path = object.path_of("features");
    if (features->kind != Kind::kObject) {
        return base::make_error(base::Reason::kWrongType, "{}: must be an object", features_path);
    }
    application.features.reserve(features->members.size());
    for (const auto& [name, feature] : features->members) {
        RAMPART_TRY(auto read, read_feature(feature, fmt::format("{}.{}", features_path, name)));
        application.features.push_back({name, std::move(read)});
    }
    RAMPART_RETURN_IF_ERROR(at_path(domain::validate(application), path));
    return application;
}

Result<Application> application_from_json(std::string_view json) {
    RAMPART_TRY(const auto document, parse_json(json));
    return read_application(document, "");
}

Result<ApplicationsRequest> applications_from_json(std::string_view json) {
    RAMPART_TRY(const auto document, parse_json(json));
    ApplicationsRequest request;
    request.batch =
        document.kind == Kind::kObject && ObjectReader(document, "").has("applications");
    if (request.batch) {
        RAMPART_TRY(request.applications,
                    read_batch<Application>(document, "applications", read_application));
    } else {
        RAMPART_TRY(auto application, read_application(document, ""));
        request.applications.push_back(std::move(application));
    }
    return request;
}

std::string to_json(const Application& application) {
    std::string json =
        fmt::format(R"({{"application_id":{},"person_id":{},"event_time":{},)",
                    json_string(application.id.value()), json_string(application.person.value()),
                    json_time(application.event_time));
    json += R"("features":{)";
    for (size_t i = 0; i < application.features.size(); ++i) {
        const auto& [name, value] = application.features[i];
        if (i > 0) json += ',';
        json += json_string(name) + ':';
        if (const auto* number = std::get_if<double>(&value)) {
            json += json_number(*number);
        } else if (const auto* text = std::get_if<std::string>(&value)) {
            json += json_string(*text);
        } else {
            json += "null";
        }
    }
    return json + "}}";
}

std::string to_json(std::span<const Application> applications) {
    return batch_json("applications", applications);
}

}  // namespace rampart::wire
