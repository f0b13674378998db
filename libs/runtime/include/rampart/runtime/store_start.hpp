#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::runtime {

/// One start of a service on the folder of its store.
///
/// What is in a store was made with its secrets, so they come into being with it and at no other
/// time. A first start, in a folder that holds no store, makes those that are not there. Unless it
/// ends well it takes back what it made, secrets last: killed at any moment, it leaves a store with
/// all its secrets, or no store. No two processes start on one folder at a time. Not thread safe.
class StoreStart {
  public:
    /// Makes the folder if need be. `entries`: what the service makes at the top of it, by name;
    /// nothing else is ever taken back, and nothing that was there before. `holds_store` is asked
    /// once no other process starts here. Errors: failed_precondition "database_in_use": another
    /// does; unavailable "no_store": the folder cannot be made; those of holds_store.
    static base::Result<std::unique_ptr<StoreStart>> begin(
        const std::filesystem::path& folder, std::vector<std::string> entries,
        const std::function<base::Result<bool>()>& holds_store);
    ~StoreStart();
    StoreStart(const StoreStart&) = delete;
    StoreStart& operator=(const StoreStart&) = delete;

    bool first() const { return first_; }

    /// The secrets in these files, in order. A first start makes those that are not there; of a
    /// store that exists, failed_precondition "key_missing" names all that are missing, and nothing
    /// is made. Those of load_secret().
    base::Result<std::vector<std::string>> secrets(const std::vector<std::filesystem::path>& files);

    /// A secret that nothing in the store was made with: it is made whenever it is not there. Those
    /// of load_secret().
    base::Result<std::string> renewable_secret(const std::filesystem::path& file);

    /// From now on the store stands, whatever becomes of this start.
    void succeed() { succeeded_ = true; }

  private:
    StoreStart(std::filesystem::path folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
    base::Result<std::string> load_or_make(const std::filesystem::path& file);
    void take_back();

    std::filesystem::path folder_;
    int lock_;  // a descriptor of the folder
    bool first_ = false, succeeded_ = false;
    std::vector<std::string> entries_;            // that were not there before
    std::vector<std::filesystem::path> secrets_;  // that this start has made
    std::vector<std::filesystem::path> folders_;  // that were not there before, innermost first
};

}  // namespace rampart::runtime
