#pragma once

#include "rampart/base/result.hpp"

/// A file that the user names on the command line is input: where it is damaged or of the wrong
/// kind, the user can mend it (exit code 2). Damage in a store, a log or a backup is a failure of
/// the system (exit code 4). The rooms that read files cannot know which it is: both are data_loss.
namespace rampart::cli {

/// Returns the error as one of input.
inline base::Error as_input(base::Error error) {
    if (error.code == base::ErrorCode::kDataLoss) error.code = base::ErrorCode::kInvalidArgument;
    return error;
}

/// Returns what was read from a file that the user named, by a command that reads a store as well.
/// A command that does not says so (CommandSpec::reads_no_store).
template <class T>
base::Result<T> named_file(base::Result<T> read) {
    if (!read) return as_input(std::move(read).error());
    return read;
}

}  // namespace rampart::cli
