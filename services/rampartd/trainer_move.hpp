#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/passphrase.hpp"
#include "rampart/base/result.hpp"
#include "services/rampartd/hand_over_file.hpp"
#include "services/rampartd/key_change.hpp"
#include "services/rampartd/settings.hpp"

/// The move of a group's training from one store to another. The file has what a trainer must not
/// lose: registry with ledger and certificates, runs, tally of erased persons, keys. The log says
/// which store trains (lease::TrainerLease), so that a file is good once. No node may be serving
/// the store. A crash at any step leaves a store that trains, one that does not, or one whose next
/// start says that the command has to be run again.
namespace rampart::rampartd {

/// A file to write or to read, and who asks.
struct TrainerMove {
    std::filesystem::path file;
    std::string passphrase;
    KeyRequest by;
    base::ScryptCost cost{};
    /// Called after each step; an error of it ends the command there, like a crash. For tests.
    std::function<base::Status(std::string_view step)> after{};
};

/// Ends the training in this store and writes the file; may be repeated until a file was taken
/// over: then only the last one counts. Errors: failed_precondition "no_shared_log",
/// "trainer_elsewhere", "take_over_unfinished", "key_missing", "other_key"; write_hand_over()'s.
base::Result<HandOver> hand_over(const Settings& settings, const TrainerMove& move);

/// Makes this store the one that trains. What it had in the places of what comes is kept in
/// STORE/.before-take-over. After a crash, or an error of the log, to be repeated with the same
/// file. Errors: failed_precondition "hand_over_used", "other_group", "other_key", "training_off",
/// "no_shared_log"; data_loss where ledger, registry or log are not as they were; the file's.
base::Result<HandOver> take_over(const Settings& settings, const TrainerMove& move);

/// Lets this store train again: TrainerLease::take_back().
base::Status take_back(const Settings& settings, std::optional<uint64_t> over,
                       const KeyRequest& by);

/// failed_precondition "take_over_unfinished": the store is between two states.
base::Status check_no_take_over(const std::filesystem::path& store);

}  // namespace rampart::rampartd
