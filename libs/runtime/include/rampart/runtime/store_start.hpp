#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::runtime {

/// One start of a service on its store folder.
///
/// The data of a store depend on its secrets, so secrets are created only together with the store.
/// A first start, in a folder without a store, creates missing secrets. If it fails, it removes
/// what it created, secrets last: killed at any moment, it leaves a store with all its secrets, or
/// no store. Only one process starts on a folder at a time. Not thread safe.
class StoreStart {
  public:
    /// Creates the folder if needed. `entries`: names that the service creates at its top; only
    /// these are removed on failure, and never one that existed before. `holds_store` is called
    /// when no other process is starting here. Fails with failed_precondition "database_in_use":
    /// another is; unavailable "no_store": the folder cannot be created; and as holds_store does.
    static base::Result<std::unique_ptr<StoreStart>> begin(
        const std::filesystem::path& folder, std::vector<std::string> entries,
        const std::function<base::Result<bool>()>& holds_store);
    ~StoreStart();
    StoreStart(const StoreStart&) = delete;
    StoreStart& operator=(const StoreStart&) = delete;

    bool first() const { return first_; }

    /// Returns the secrets in these files, in order. A first start creates missing ones; for an
    /// existing store fails with failed_precondition "key_missing", which names all missing files,
    /// and creates none. Fails as load_secret() does.
    base::Result<std::vector<std::string>> secrets(const std::vector<std::filesystem::path>& files);

    /// Marks the start as successful: nothing is removed any more.
    void succeed() { succeeded_ = true; }

  private:
    StoreStart(std::filesystem::path folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
    base::Result<std::string> load_or_make(const std::filesystem::path& file);
    void take_back();

    std::filesystem::path folder_;
    int lock_;  // a descriptor of the folder
    bool first_ = false, succeeded_ = false;
    std::vector<std::string> entries_;            // that did not exist before
    std::vector<std::filesystem::path> secrets_;  // created by this start
    std::vector<std::filesystem::path> folders_;  // that did not exist before, innermost first
};

}  // namespace rampart::runtime
