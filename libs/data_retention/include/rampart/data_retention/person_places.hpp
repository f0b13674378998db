#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// Where a store has records of a person.
namespace rampart::data_retention {

/// Each of these places is gone through by an erasure (erasure.hpp) and by an export of a person's
/// record (person_record.hpp), with a switch over all of them: a place that is added here stops the
/// build of both until they say what they do about it.
enum class PersonPlace : uint8_t {
    kPersonKeys,
    kDecisionIndex,    // decisions and explanations
    kAttributesTopic,  // a shared log's
    kLog,              // topics of applications, decisions and outcomes
    kQuarantineTopic,  // rejected records, in the log
    kAttributes,       // protected attributes, with their versions
    kJoinedState,      // decisions, outcomes, overrides, unmatched ones among them; its quarantine
    kIndexQuarantine,  // applications that cannot be decided
    kRegister,         // legal holds, erasures that are under way
    kJobs,             // requests that wait, or have ended within the week
    kEvidence,         // records of the vault under pseudonyms, beside certificates
    kAudit,            // entries under the person's tag
};

/// In the order in which an erasure takes bytes away; the audit log has it last.
inline constexpr std::array kPersonPlaces{
    PersonPlace::kPersonKeys,  PersonPlace::kDecisionIndex,   PersonPlace::kAttributesTopic,
    PersonPlace::kLog,         PersonPlace::kQuarantineTopic, PersonPlace::kAttributes,
    PersonPlace::kJoinedState, PersonPlace::kIndexQuarantine, PersonPlace::kRegister,
    PersonPlace::kJobs,        PersonPlace::kEvidence,        PersonPlace::kAudit};
static_assert(kPersonPlaces.size() == static_cast<size_t>(PersonPlace::kAudit) + 1);

/// Returns the place as errors and documents name it: "joined state".
std::string_view to_string(PersonPlace place);

}  // namespace rampart::data_retention
