#include "rampart/wire/person_of.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <optional>

#include "rampart/v1/application.pb.h"
#include "rampart/v1/decision.pb.h"
#include "rampart/wire/reasons.hpp"

namespace rampart::wire {
namespace {

using google::protobuf::internal::WireFormatLite;

/// Returns the last of the message's fields with that number, which is the one that counts, as
/// bytes; nullopt: the bytes are not a message, or it lacks the field.
std::optional<std::string_view> last_field(std::string_view bytes, int number) {
    const auto wanted = WireFormatLite::MakeTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                              static_cast<int>(bytes.size()));
    std::optional<std::string_view> found;
    while (const uint32_t tag = in.ReadTag()) {
        if (tag != wanted) {
            if (!WireFormatLite::SkipField(&in, tag)) return std::nullopt;
            continue;
        }
        int size = 0;
        if (!in.ReadVarintSizeAsInt(&size)) return std::nullopt;
        const auto at = static_cast<size_t>(in.CurrentPosition());
        if (!in.Skip(size)) return std::nullopt;
        found = bytes.substr(at, static_cast<size_t>(size));
    }
    return in.ConsumedEntireMessage() ? found : std::nullopt;
}

}  // namespace

base::Result<domain::PersonId> person_of_decision(std::string_view bytes) {
    const auto application = last_field(bytes, v1::Decision::kApplicationFieldNumber);
    const auto person = application
                            ? last_field(*application, v1::Application::kPersonIdFieldNumber)
                            : std::nullopt;
    if (!person) {
        return base::make_error(Reason::kNotAMessage, "{} bytes are not a decision about a person",
                                bytes.size());
    }
    domain::PersonId id{std::string(*person)};
    RAMPART_RETURN_IF_ERROR(domain::check_id("person_id", id.value()));
    return id;
}

}  // namespace rampart::wire
