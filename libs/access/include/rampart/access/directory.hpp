#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rampart/access/authenticator.hpp"
#include "rampart/access/principals.hpp"
#include "rampart/base/clock.hpp"

namespace rampart::access {

/// Where a service keeps its principals, and the token of the first start.
struct Files {
    std::filesystem::path principals;
    std::filesystem::path token;
};

/// The principals of a service, as its file has them. Thread safe.
class Directory final : public Authenticator {
  public:
    /// `clock`: the wall clock, for the ends of tokens. Where there is no file of principals, one
    /// is made: with a principal "first" (scope `grant`, one day), whose token is written to
    /// Files::token; but if there is such a token, of a release that knew one for everything, with
    /// a principal "earlier" that has it (all scopes but `grant`, 30 days). Errors: those of
    /// read_principals() and of files.
    static base::Result<std::shared_ptr<Directory>> open(Files files, const base::Clock& clock);

    base::Result<Principal> identify(const Caller& caller) const override;

    /// Reads the file anew if it has changed, and returns whether it had. If it cannot be read,
    /// what was known stays known, and the error comes once for each change.
    base::Result<bool> refresh();

    std::vector<Entry> entries() const;
    const std::filesystem::path& file() const { return files_.principals; }

  private:
    using Stamp = std::pair<std::filesystem::file_time_type, uintmax_t>;
    struct Known;

    Directory(Files files, const base::Clock& clock) : files_(std::move(files)), clock_(clock) {}
    base::Status make_first();
    base::Status load();
    std::shared_ptr<const Known> known() const;
    Stamp stamp() const;

    Files files_;
    const base::Clock& clock_;
    mutable std::mutex mutex_;  // guards what follows
    std::shared_ptr<const Known> known_;
    Stamp stamp_{};
};

}  // namespace rampart::access
