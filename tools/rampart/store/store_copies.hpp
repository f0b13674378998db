#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "rampart/decision_log/decision_index.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {

/// A folder that goes away with it.
struct Temporary {
    std::filesystem::path folder;
    explicit Temporary(std::filesystem::path path) : folder(std::move(path)) { remove(); }
    ~Temporary() { remove(); }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    void remove() const;
};

/// Copies a database of the store, if it is there, to the same place under `copy`.
base::Result<bool> copy_to(const std::filesystem::path& copy, const rampartd::Settings& settings,
                           const std::filesystem::path& database);

/// Copies of everything that follows from the log, and then the log, so that it is ahead of them.
struct Derived {
    Temporary copy;
    std::vector<streaming::PartitionId> joined, decided;
    std::unique_ptr<streaming_local::LocalLog> log;  // null: not here

    explicit Derived(const rampartd::Settings& settings) : copy(settings.store / ".check") {}
    static base::Result<std::unique_ptr<Derived>> of(const rampartd::Settings& settings);
    /// One that fails with "no_log" where there is no log here.
    const streaming::Reader& reader() const;
    std::filesystem::path partitions() const { return copy.folder / "partitions"; }
};

base::Result<std::unique_ptr<joiner::OutcomeJoiner>> open_joined(
    const rampartd::Settings& settings, const Derived& derived,
    std::vector<streaming::PartitionId> held);
base::Result<std::unique_ptr<decision_log::DecisionIndex>> open_index(
    const rampartd::Settings& settings, const Derived& derived, streaming::PartitionId partition);

}  // namespace rampart::cli
