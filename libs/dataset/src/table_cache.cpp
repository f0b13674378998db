#include "rampart/dataset/table_cache.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/read_table.hpp"

namespace rampart::dataset {
namespace {

using base::Result;
namespace fs = std::filesystem;

base::Digest digest_of(const TableSchema& schema) {
    base::Sha256 sha;
    sha.update_field("rampart table schema 2");
    sha.update_field(write_table_schema(schema));  // it says all
    return sha.finish();
}

fs::path file_for(const fs::path& source, const TableSchema& schema, const fs::path& cache) {
    std::error_code ignored;
    if (!fs::is_directory(cache, ignored)) return cache;
    constexpr size_t kShown = 16;
    return cache / fmt::format("{}.{}.table", source.filename().string(),
                               digest_of(schema).hex().substr(0, kShown));
}

/// File attributes that change with every write.
struct Stamp {
    uintmax_t bytes = 0;
    fs::file_time_type written;
    bool operator==(const Stamp&) const = default;

    static std::optional<Stamp> of(const fs::path& path) {
        std::error_code size_error, time_error;
        const Stamp stamp{fs::file_size(path, size_error), fs::last_write_time(path, time_error)};
        if (size_error || time_error) return std::nullopt;
        return stamp;
    }
};

}  // namespace

Result<base::Digest> table_cache_key(const fs::path& source, const TableSchema& schema) {
    std::ifstream in(source, std::ios::binary);
    if (!in) {
        const auto reason = errno == ENOENT ? base::Reason::kNoSuchFile : base::Reason::kIoError;
        return base::make_error(reason, "cannot read '{}': {}", source.string(),
                                std::strerror(errno));
    }
    base::Sha256 sha;
    sha.update_field("rampart table cache 1");
    sha.update_field(digest_of(schema).hex());
    std::vector<char> block(1 << 20);
    while (in) {
        in.read(block.data(), static_cast<std::streamsize>(block.size()));
        sha.update({block.data(), static_cast<size_t>(in.gcount())});
    }
    if (in.bad())
        return base::make_error(base::Reason::kIoError, "cannot read '{}'", source.string());
    return sha.finish();
}

Result<CachedTable> read_table_cached(const fs::path& source, const TableSchema& schema,
                                      const fs::path& cache) {
    const auto before = Stamp::of(source);
    RAMPART_TRY(const auto key, table_cache_key(source, schema));
    const fs::path file = file_for(source, schema, cache);
    CachedTable out;
    std::error_code ignored;
    if (fs::exists(file, ignored)) {
        auto bytes = base::read_file(file, kMaxTableCacheBytes);
        auto data = bytes ? decode_table_cache(*bytes, key, schema.features)
                          : Result<Dataset>(bytes.error());
        if (data) {
            return CachedTable{*std::move(data), true,
                               fmt::format("'{}': taken from the cache", file.string())};
        }
        out.note =
            fmt::format("'{}': {}; read from the source", file.string(), data.error().message);
    }
    RAMPART_TRY(out.data, read_table(source, schema));
    const auto append_note = [&](std::string_view what) {
        out.note += fmt::format("{}{}", out.note.empty() ? "" : "; ", what);
    };
    if (!before || Stamp::of(source) != before) {
        append_note(fmt::format("'{}' was changed during the reading: nothing was cached",
                                source.string()));
        return out;
    }
    const auto written = base::write_file_atomically(file, encode_table_cache(out.data, key));
    append_note(written ? fmt::format("cached in '{}'", file.string())
                        : fmt::format("nothing was cached: {}", written.error().message));
    return out;
}

}  // namespace rampart::dataset
