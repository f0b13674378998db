#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::lease {

/// One holding of the trainer's lease, from a claim on.
struct Turn {
    uint64_t epoch = 0;
    std::string session;  // as in the records
    bool operator==(const Turn&) const = default;
};

/// What a store knows of its right to train: a file beside what was trained, so that a copy of the
/// store has it as of then.
struct TrainerSeat {
    std::optional<Turn> held;     // the last turn that the store is known to have had
    std::optional<Turn> claimed;  // one that it asked for since, with or without success
    bool handed_over = false;     // the store does not train any more

    /// Returns whether the turn is one of the store's two.
    bool is_own(const Turn& turn) const { return held == turn || claimed == turn; }
    /// Returns the highest epoch that the store has seen; 0: none.
    uint64_t latest() const;
    bool operator==(const TrainerSeat&) const = default;
};

/// Lines of text: schemas/keys.md. decode fails with data_loss "bad_seat" otherwise.
std::string encode(const TrainerSeat& seat);
base::Result<TrainerSeat> decode_seat(std::string_view text);

/// Returns an empty seat where there is no such file: the store never asked to train.
base::Result<TrainerSeat> read_seat(const std::filesystem::path& file);
/// Fails with failed_precondition "trainer_handed_over" if the store does not train any more.
base::Status check_not_handed_over(const std::filesystem::path& file);
/// Durable when it returns.
base::Status write_seat(const std::filesystem::path& file, const TrainerSeat& seat);

}  // namespace rampart::lease
