#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/privacy/person_keys.hpp"
#include "rampart/streaming/record.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {

/// What a store says of who is erased: destroyed keys, the audit log's entries of erasures that are
/// done, and erasures under way. Read before what it is compared with is copied, so that what it
/// says is gone had been taken away by then, also while a node is at work.
class ErasedPersons {
  public:
    static base::Result<ErasedPersons> of(const rampartd::Settings& settings);

    /// Whether the envelope can be opened, and if so its content.
    struct Opened {
        enum class State { kUnknown, kDestroyed, kOpen } state = State::kUnknown;
        std::string content{};
    };
    Opened open(const std::string& name, const std::string& envelope) const;

    /// Returns when the person was last erased; nullopt: never, or an erasure is under way, so that
    /// what is there may be about to go.
    std::optional<base::TimePoint> erased_at(const domain::PersonId& person) const;
    /// Whether an erasure of the person, or one that had this decision, is under way.
    bool is_under_way(const domain::PersonId& person) const;
    bool is_under_way(const std::string& decision) const { return decisions_.contains(decision); }
    /// The persons whose ids may be in the bytes, as a message of ours would have them, and who
    /// were erased: the last time of one of them.
    std::optional<base::TimePoint> erased_person_in(std::string_view bytes) const;

    bool none() const { return persons_.empty() || keys_ == nullptr; }
    /// Whether no decision may lie unsealed in the log.
    bool sealed_log() const { return sealed_log_; }
    /// The person as the audit log has it.
    std::string name_of(const domain::PersonId& person) const;
    bool has_keys() const { return keys_ != nullptr; }
    /// What is wrong with the person keys.
    const std::vector<std::string>& key_faults() const { return key_faults_; }
    /// What of finished erasures is still in the register, by person as the audit log has it.
    const std::set<std::string>& left_in_register() const { return left_in_register_; }

  private:
    std::unique_ptr<privacy::PersonKeys> keys_;       // null: keys or their secret are not here
    std::map<std::string, base::TimePoint> persons_;  // by hex tag
    std::set<std::string> under_way_, decisions_;     // hex tags, and decisions of these persons
    std::set<std::string> left_in_register_;
    std::vector<std::string> key_faults_;
    bool sealed_log_ = false;
};

}  // namespace rampart::cli
