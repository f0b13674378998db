#pragma once

#include <set>
#include <string>
#include <vector>

#include "rampart/data_retention/erasure.hpp"

/// How the records of a person are found: by an erasure, and by an export.
namespace rampart::data_retention {

/// What is known of a person here.
struct Findings {
    // also those of an erasure that was begun, of which the joined state has nothing any more
    std::vector<joiner::PersonDecision> decisions;
    std::vector<domain::DecisionId> ids;  // and those that an earlier release noted without details
    // Records in quarantine; withheld: that there is one depends on an outcome, and is not said.
    size_t quarantined = 0, withheld = 0;
    size_t unread = 0;  // quarantined ones that are decisions which no other record makes known
};

/// Finds the records that are about the person, also those that cannot be read.
class About {
  public:
    About(const domain::PersonId& person, const Findings& found);
    bool operator()(const streaming::Record& record) const {
        return has_key_of(record) || names_person(record);
    }
    bool operator()(const wire::Quarantined& one) const { return (*this)(one.record); }

    /// Whether the record lies under the id of a decision or application of the person.
    bool has_key_of(const streaming::Record& record) const { return keys_.contains(record.key); }
    /// Whether a message in it may have the person's id.
    bool names_person(const streaming::Record& record) const {
        return record.value.find(field_) != std::string::npos;
    }

  private:
    const std::string field_;
    std::set<std::string> keys_;
};

/// Counts the records in quarantine that are about the person, whatever else lies there.
base::Status count_quarantined(const ErasureDeps& deps, const domain::PersonId& person,
                               Findings& found);

/// Finds the person's decisions, those of an erasure that was begun among them, and counts what
/// lies in quarantine.
base::Result<Findings> find(const ErasureDeps& deps, const domain::PersonId& person,
                            const std::optional<privacy::PendingErasure>& pending);

}  // namespace rampart::data_retention
