#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/table_schema.hpp"

/// Cache file of a table, which is read many times faster than its CSV.
///
/// Layout, little endian: magic "RAMPARTT", format version (u32), key (32 bytes), rows n (u64),
/// features d (u32), flags (u32: 1 weights, 2 groups, 4 targets), number of group names (u32), each
/// name with its length (u32) before it; number of notes and notes in the same way; labels
/// uint8[n], or targets double[n]; weights float[n] and groups int32[n] where flagged; columns
/// float[d][n]; SHA-256 of all before it.
namespace rampart::dataset {

inline constexpr size_t kMaxTableCacheBytes = size_t{16} << 30;

/// Returns the key of a table: SHA-256 over the bytes of the source file, the whole schema and the
/// version of the format. Fails with not_found, unavailable.
base::Result<base::Digest> table_cache_key(const std::filesystem::path& source,
                                           const TableSchema& schema);

/// Requires valid data (dataset::validate or validate_numeric).
std::string encode_table_cache(const Dataset& data, const base::Digest& key);

/// Decodes and checks everything: magic, version, key, lengths, checksum, and then as
/// dataset::validate or validate_numeric does; no input crashes it (fuzzed). `features` are those
/// of the key's schema. Fails with data_loss "bad_table_cache"; invalid_argument "other_table" for
/// another key or version.
base::Result<Dataset> decode_table_cache(std::string_view bytes, const base::Digest& key,
                                         const FeatureSchema& features);

struct CachedTable {
    Dataset data;
    bool from_cache = false;
    std::string note;  // message for a person: what was done with the cache file, and why
};

/// Reads the table from the cache file if that matches source, schema and version
/// and is undamaged; otherwise calls read_table(source, schema) and writes the cache
/// file anew, atomically. A cache file that cannot be used or written is not an
/// error: the note says so.
///
/// `cache`: a file, or an existing folder, in which the file is named after source and schema.
/// Fails as read_table does; not_found "no_such_file" for the source.
base::Result<CachedTable> read_table_cached(const std::filesystem::path& source,
                                            const TableSchema& schema,
                                            const std::filesystem::path& cache);

}  // namespace rampart::dataset
