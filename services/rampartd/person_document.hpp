#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/registry/audit_reading.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {

/// A certificate by its public name: its digest may depend on outcomes of the vault.
struct CertificateOfPolicy {
    std::string name;
    registry::CertificateInfo info;
};

/// A policy that decided about a person, as the registry has it.
struct PolicyOfPerson {
    domain::PolicyId id;
    std::optional<registry::ModelInfo> registered;    // nullopt: its file is at another node
    std::map<std::string, std::string> facts{};       // learner, product, recipe: for people
    std::vector<CertificateOfPolicy> certificates{};  // that promoted it
};

/// What the evidence of a certificate has of the person.
struct EvidenceOfPerson {
    std::string certificate;           // its public name
    std::vector<std::string> records;  // JSON objects
};

/// What the registry has about a person's record, without what depends on outcomes of the vault.
struct PersonInRegistry {
    std::vector<PolicyOfPerson> policies;  // that decided what is in the record
    std::vector<EvidenceOfPerson> evidence;
    std::vector<registry::ShownEntry> audit;  // the record's entries, as they are shown
};

/// Returns it. Errors: registry::ModelRegistry::load_model's, but for a model that is not
/// registered; registry::CertificateNames::read's.
base::Result<PersonInRegistry> in_registry(const data_retention::PersonRecord& record,
                                           const registry::ModelRegistry& registry);

/// Returns one JSON document with all of the record: numbers so that they parse back to the same
/// bits; of a value that cannot be read its bytes in hex, and as text as far as they are one.
std::string to_json(const data_retention::PersonRecord& record, const PersonInRegistry& registered);

}  // namespace rampart::rampartd
