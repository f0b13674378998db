#include "rampart/protected_attributes/record.hpp"

#include "rampart/base/limits.hpp"

namespace rampart::protected_attributes {

namespace limits = base::limits;

namespace {

constexpr auto kFirstTime = base::TimePoint::from_micros(-2'208'988'800'000'000);  // 1900
constexpr auto kLastTime = base::TimePoint::from_micros(253'402'300'799'999'999);  // 9999

}  // namespace

base::Status validate(const ProtectedAttributes& person) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("person_id", person.person.value()));
    if (person.event_time < kFirstTime || person.event_time > kLastTime) {
        return base::out_of_range("bad_time",
                                  "event_time: {} microseconds is not in the years 1900 to 9999",
                                  person.event_time.micros());
    }
    if (person.attributes.size() > limits::kMaxGroups) {
        return base::out_of_range("too_many_attributes", "{} attributes; at most {} are allowed",
                                  person.attributes.size(), limits::kMaxGroups);
    }
    for (const auto& [name, value] : person.attributes) {
        if (name.empty() || name.size() > limits::kMaxNameBytes) {
            return base::invalid_argument("bad_attribute_name",
                                          "an attribute name has 1 to {} bytes, not {}",
                                          limits::kMaxNameBytes, name.size());
        }
        if (value.empty() || value.size() > limits::kMaxNameBytes) {
            return base::invalid_argument("bad_attribute_value",
                                          "attribute '{}': a value has 1 to {} bytes, "
                                          "not {}; leave the attribute out if it is not known",
                                          name, limits::kMaxNameBytes, value.size());
        }
    }
    return base::ok();
}

}  // namespace rampart::protected_attributes
