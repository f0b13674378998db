#include "rampart/data_retention/person_places.hpp"

namespace rampart::data_retention {

std::string_view to_string(PersonPlace place) {
    switch (place) {
        case PersonPlace::kPersonKeys:
            return "person keys";
        case PersonPlace::kDecisionIndex:
            return "index of decisions";
        case PersonPlace::kAttributesTopic:
            return "topic of protected attributes";
        case PersonPlace::kLog:
            return "log";
        case PersonPlace::kQuarantineTopic:
            return "topic of the quarantine";
        case PersonPlace::kAttributes:
            return "protected attributes";
        case PersonPlace::kJoinedState:
            return "joined state";
        case PersonPlace::kIndexQuarantine:
            return "quarantine of applications";
        case PersonPlace::kRegister:
            return "register";
        case PersonPlace::kJobs:
            return "jobs";
        case PersonPlace::kEvidence:
            return "evidence of certificates";
        case PersonPlace::kAudit:
            return "audit log";
    }
    return {};
}

}  // namespace rampart::data_retention
