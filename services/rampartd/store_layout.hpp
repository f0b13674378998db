#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::rampartd {

/// The files of a store that hold a secret, as paths relative to it: those of a node, then those of
/// the stand-alone decision service. No other file of a store is one, whatever its mode.
inline constexpr std::array<std::string_view, 11> kSecretFiles{
    "keys/draw",    "keys/arm",   "keys/split",     "keys/evidence",
    "keys/signing", "keys/token", "keys/person",    "keys/principals.toml",
    "draw.key",     "api.token",  "principals.toml"};

/// Whether a file of a store, by its path relative to it, is one of them, or lies in keys/ beside
/// them: a key that was taken out of use, or the file that privacy.secret names, for which
/// load_settings() refuses every other place in the store.
bool is_secret(std::string_view path);

/// What a node makes at the top of its store, beside `keys/` and the file of its address.
std::vector<std::string> entries_of_a_store();

/// The file with the store's right to train for its group (lease::TrainerSeat). It stays where a
/// first start fails: the log knows of it.
inline std::filesystem::path seat_of(const std::filesystem::path& store) {
    return store / "trainer.seat";
}

/// Whether there is a database in the folder: then something was made with the keys.
base::Result<bool> holds_a_store(const std::filesystem::path& folder);

/// Databases in a store that releases before there were partitions made, and that no release since
/// then reads: joined state and index of decisions at the top of the store, where `partitions/` is
/// now. Both follow from the log, and are made anew from it.
std::vector<std::filesystem::path> databases_of_earlier_layout(const std::filesystem::path& store);

}  // namespace rampart::rampartd
