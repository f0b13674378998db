#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/rampartd/node.hpp"

namespace rampart::rampartd {

/// A policy that decided about a person, as the registry has it.
struct PolicyOfPerson {
    domain::PolicyId id;
    std::optional<registry::ModelInfo> registered;          // nullopt: its file is at another node
    std::map<std::string, std::string> facts{};             // learner, product, recipe: for people
    std::vector<registry::CertificateInfo> certificates{};  // that promoted it
};

/// Returns the policies that decided what is in the record. Errors:
/// registry::ModelRegistry::load_model's, but for a model that is not registered.
base::Result<std::vector<PolicyOfPerson>> policies_of(const data_retention::PersonRecord& record,
                                                      const registry::ModelRegistry& registry);

/// Returns one JSON document with all of the record: numbers so that they parse back to the same
/// bits; of a value that cannot be read its bytes in hex, and as text as far as they are one.
std::string to_json(const data_retention::PersonRecord& record,
                    const std::vector<PolicyOfPerson>& policies);

}  // namespace rampart::rampartd
