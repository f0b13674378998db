#include "rampart/protected_attributes/record.hpp"

#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/protected_attributes/reasons.hpp"

namespace rampart::protected_attributes {

namespace limits = base::limits;

base::Status validate(const ProtectedAttributes& person) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("person_id", person.person.value()));
    RAMPART_RETURN_IF_ERROR(base::check_time("event_time", person.event_time));
    if (person.attributes.size() > limits::kMaxGroups) {
        return base::make_error(Reason::kTooManyAttributes, "{} attributes; at most {} are allowed",
                                person.attributes.size(), limits::kMaxGroups);
    }
    for (const auto& [name, value] : person.attributes) {
        if (!base::is_utf8(name) || !base::is_utf8(value)) {
            return base::make_error(Reason::kBadAttribute,
                                    "an attribute's name or value is not UTF-8");
        }
        if (name.empty() || name.size() > limits::kMaxNameBytes) {
            return base::make_error(Reason::kBadAttributeName,
                                    "an attribute name has 1 to {} bytes, not {}",
                                    limits::kMaxNameBytes, name.size());
        }
        if (value.empty() || value.size() > limits::kMaxNameBytes) {
            return base::make_error(Reason::kBadAttributeValue,
                                    "attribute '{}': a value has 1 to {} bytes, "
                                    "not {}; leave the attribute out if it is not known",
                                    name, limits::kMaxNameBytes, value.size());
        }
    }
    return base::ok();
}

}  // namespace rampart::protected_attributes
