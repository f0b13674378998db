#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/registry/model_registry.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::rampartd {

/// What the configuration declares that a store is bound to, compared with what it was bound to
/// before.
struct Declaration {
    std::string text;                    // to be stored: product and features
    std::vector<std::string> changes{};  // in words; empty: nothing changed
    bool first = false;                  // the store has no declaration yet
    std::string before{};  // features on record, as dataset::write_features() has them; empty: none
    /// Returns whether the store is bound to all of it.
    bool on_record() const { return !first && changes.empty(); }
};

/// Compares product and features of the configuration with those that the store has on record; of a
/// store of earlier releases, with the features of its champion. Errors: failed_precondition
/// "schema_not_carried" (dataset::carry_schema); "product_not_carried" names what of the product
/// changed, from what to what; data_loss "declaration_edited".
base::Result<Declaration> declaration_of(const registry::ModelRegistry& registry,
                                         const Settings& settings);

/// Puts the declaration on record, if it is the first or another one: an audit entry says in words
/// what changed, and names the features by their digest.
base::Status record(registry::ModelRegistry& registry, const Declaration& declaration,
                    const Settings& settings, base::TimePoint now);

}  // namespace rampart::rampartd
