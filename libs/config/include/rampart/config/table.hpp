#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::config {

/// Strict reader of TOML: every key that the program does not read is an error, and every error
/// names file, line, key, value and what is allowed.
///
/// Use: parse, get the values, then finish(). The first error is kept: later getters return
/// defaults, and finish() returns the error, so that a reader function needs no checks in between.
///
///     RAMPART_TRY(auto root, config::parse_file(path));
///     options.port = root.table("http").integer("port", 0, 65535, 8080);
///     RAMPART_RETURN_IF_ERROR(root.finish());
///
/// Not thread safe. Copies share their state.
class Table {
  public:
    /// Returns a sub-table; absent: an empty one (all defaults). Calling twice gives the same.
    Table table(std::string_view key);
    bool has(std::string_view key) const;
    bool is_table(std::string_view key) const;

    // Getters of required keys: an error if absent.
    std::string string(std::string_view key);
    int64_t integer(std::string_view key, int64_t lo, int64_t hi);
    double number(std::string_view key, double lo, double hi);  // finite, lo <= x <= hi
    // Getters with a default.
    std::string string(std::string_view key, std::string_view fallback);
    int64_t integer(std::string_view key, int64_t lo, int64_t hi, int64_t fallback);
    double number(std::string_view key, double lo, double hi, double fallback);
    bool boolean(std::string_view key, bool fallback);
    /// Returns one of `allowed`; the error lists them.
    std::string choice(std::string_view key, const std::vector<std::string>& allowed,
                       std::string_view fallback);
    std::vector<std::string> strings(std::string_view key);                       // absent: empty
    std::vector<int64_t> integers(std::string_view key, int64_t lo, int64_t hi);  // absent: empty
    /// Finite numbers within the range; one number counts as a list of one. Absent: empty.
    std::vector<double> numbers(std::string_view key, double lo, double hi);
    std::vector<std::vector<double>> number_rows(
        std::string_view key);                        // [[x, y], …]; absent: empty
    std::vector<Table> tables(std::string_view key);  // [[key]] …; absent: empty

    /// Records an error that the caller found at `key`.
    void fail(std::string_view key, std::string_view message);
    /// Returns the first error or an unknown key. Call it after all reads of root and sub-tables.
    base::Status finish();

  private:
    friend base::Result<Table> parse(std::string_view text, std::string_view name);
    struct State;
    struct Node;
    std::shared_ptr<State> state_;
    std::shared_ptr<Node> node_;
    const void* find(std::string_view key) const;
    void fail_at(const void* node, std::string_view key, std::string_view message);
    template <class T, class Read>
    T get(std::string_view key, const T* fallback, Read read);
};

/// Parses TOML. `name` is used in errors ("rampartd.toml"). Fails on syntax errors, with the line.
base::Result<Table> parse(std::string_view text, std::string_view name);
base::Result<Table> parse_file(const std::filesystem::path& path);

}  // namespace rampart::config
