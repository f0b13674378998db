#include "rampart/protected_attributes/codec.hpp"

#include <google/protobuf/stubs/logging.h>

#include <boost/json.hpp>

#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/protected/v1/protected_attributes.pb.h"
#include "rampart/protected_attributes/reasons.hpp"

namespace rampart::protected_attributes {
namespace {

namespace json = boost::json;
namespace pb = rampart::protected_attributes::v1;
using base::Result;

Result<std::string> text_member(const json::object& object, std::string_view name,
                                std::string_view within = "") {
    const auto* member = object.if_contains(name);
    if (member == nullptr)
        return base::make_error(Reason::kMissingField, "{}{}: is missing", within, name);
    if (const auto* text = member->if_string()) return std::string(*text);
    return base::make_error(Reason::kBadType, "{}{}: must be a string", within, name);
}

base::Status check_members(const json::object& object) {
    for (const auto& member : object) {
        const std::string_view name = member.key();
        if (name != "person_id" && name != "event_time" && name != "attributes") {
            return base::make_error(Reason::kUnknownField,
                                    "{}: is not known; allowed are person_id, "
                                    "event_time and attributes",
                                    name.substr(0, 128));
        }
    }
    return base::ok();
}

/// Counts the member names of a valid document, repeated ones included: Boost.JSON keeps only the
/// last of repeated members.
size_t count_names(std::string_view text) {
    size_t names = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '"') continue;
        for (++i; text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
        const size_t next = text.find_first_not_of(" \t\r\n", i + 1);
        names += next != text.npos && text[next] == ':' ? 1 : 0;
    }
    return names;
}

}  // namespace

std::string encode(const ProtectedAttributes& person) {
    pb::ProtectedAttributes message;
    message.set_person_id(person.person.value());
    message.set_event_time_micros(person.event_time.micros());
    for (const auto& [name, value] : person.attributes) {
        auto* attribute = message.add_attributes();
        attribute->set_name(name);
        attribute->set_value(value);
    }
    std::string bytes;
    RAMPART_CHECK(message.SerializeToString(&bytes), "protobuf would not serialize");
    return bytes;
}

Result<ProtectedAttributes> decode(std::string_view bytes) {
    pb::ProtectedAttributes message;
    // The error below is sufficient; protobuf's own message would bypass our logger.
    static const google::protobuf::LogSilencer quiet;
    if (bytes.size() > base::limits::kMaxRecordBytes ||
        !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return base::make_error(Reason::kBadProtobuf,
                                "{} bytes are not a ProtectedAttributes message", bytes.size());
    }
    ProtectedAttributes person{domain::PersonId(message.person_id()),
                               base::TimePoint::from_micros(message.event_time_micros()),
                               {}};
    for (const auto& attribute : message.attributes()) {
        if (!person.attributes.emplace(attribute.name(), attribute.value()).second) {
            return base::make_error(Reason::kDuplicateAttribute, "attribute '{}' is given twice",
                                    attribute.name());
        }
    }
    RAMPART_RETURN_IF_ERROR(validate(person));
    return person;
}

std::string to_json(const ProtectedAttributes& person) {
    json::object attributes;
    for (const auto& [name, value] : person.attributes) attributes[name] = value;
    return json::serialize(json::object{{"person_id", person.person.value()},
                                        {"event_time", base::to_iso8601(person.event_time)},
                                        {"attributes", std::move(attributes)}});
}

Result<ProtectedAttributes> parse_json(std::string_view text) {
    if (text.size() > base::limits::kMaxRecordBytes) {
        return base::make_error(Reason::kBadJson, "{} bytes of JSON; at most {} are allowed",
                                text.size(), base::limits::kMaxRecordBytes);
    }
    json::error_code error;
    const json::value document = json::parse(json::string_view(text.data(), text.size()), error);
    const auto* object = error ? nullptr : document.if_object();
    if (object == nullptr) {
        return base::make_error(base::Reason::kBadJson, "not a JSON object{}{}", error ? ": " : "",
                                error ? error.message() : "");
    }
    RAMPART_RETURN_IF_ERROR(check_members(*object));
    ProtectedAttributes person;
    RAMPART_TRY(auto id, text_member(*object, "person_id"));
    person.person = domain::PersonId(std::move(id));
    RAMPART_TRY(const auto time, text_member(*object, "event_time"));
    RAMPART_TRY(person.event_time, base::parse_iso8601(time));
    const auto* member = object->if_contains("attributes");
    if (member == nullptr) return base::make_error(Reason::kMissingField, "attributes: is missing");
    const auto* attributes = member->if_object();
    if (attributes == nullptr)
        return base::make_error(Reason::kBadType, "attributes: must be an object");
    if (count_names(text) != object->size() + attributes->size()) {
        return base::make_error(Reason::kDuplicateField, "a field or an attribute is given twice");
    }
    for (const auto& attribute : *attributes) {
        RAMPART_TRY(auto value, text_member(*attributes, attribute.key(), "attributes."));
        person.attributes.emplace(attribute.key(), std::move(value));
    }
    RAMPART_RETURN_IF_ERROR(validate(person));
    return person;
}

}  // namespace rampart::protected_attributes
