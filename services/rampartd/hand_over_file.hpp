#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/passphrase.hpp"
#include "rampart/base/result.hpp"
#include "rampart/lease/trainer_seat.hpp"
#include "rampart/runtime/key_file.hpp"

/// The training of a group in one file, under a passphrase.
namespace rampart::rampartd {

/// What such a file says of itself.
struct HandOver {
    std::string id;  // hex digits, of this one
    std::string group, topic_prefix, product;
    std::string node;         // that handed over
    lease::TrainerSeat seat;  // with which another store takes over
    uint64_t ledger_entries = 0;
    std::string ledger_head;  // hex digest of the last one
    base::TimePoint at;
    std::string actor, reason;
    bool operator==(const HandOver&) const = default;
};

/// Bytes and back. Error: invalid_argument "bad_hand_over".
std::string encode(const HandOver& about);
base::Result<HandOver> decode_hand_over(std::string_view bytes);

/// Writes the file: a line with its format; the keys as runtime::wrap_keys() has them, with a key
/// of this file among them; then frames that are sealed with that key, each for its place: what the
/// file says of itself, all files of the store below `parts` (paths relative to it), and an end.
/// It appears whole, with mode 0600, or not at all. Errors: wrap_keys()'s; those of files.
base::Status write_hand_over(const std::filesystem::path& out, const HandOver& about,
                             std::vector<runtime::StoredKey> keys, std::string_view passphrase,
                             const std::filesystem::path& store,
                             const std::vector<std::string>& parts,
                             const base::ScryptCost& cost = {});

/// What is read of it beside files.
struct ReadHandOver {
    HandOver about;
    std::vector<runtime::StoredKey> keys;
};

/// Reads what the file says of itself, and its keys. Errors: unwrap_keys()'s; invalid_argument
/// "bad_hand_over".
base::Result<ReadHandOver> read_hand_over(const std::filesystem::path& file,
                                          std::string_view passphrase);

/// Puts the files in it into the folder `into`, which is not there yet, durably. Only files below
/// `parts` are taken. Where this fails, some may be there. Errors: as above.
base::Result<ReadHandOver> unpack_hand_over(const std::filesystem::path& file,
                                            std::string_view passphrase,
                                            const std::filesystem::path& into,
                                            const std::vector<std::string>& parts);

}  // namespace rampart::rampartd
