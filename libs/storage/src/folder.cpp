#include "rampart/storage/folder.hpp"

#include <rocksdb/db.h>

#include <vector>

#include "encrypted_files.hpp"
#include "errors.hpp"
#include "rampart/storage/reasons.hpp"
#include "schema.hpp"

namespace rampart::storage {

bool is_database(const std::filesystem::path& folder) {
    std::error_code failure;
    return std::filesystem::is_regular_file(folder / "CURRENT", failure);
}

base::Result<std::vector<std::string>> families_in(const std::filesystem::path& folder) {
    if (!is_database(folder)) {
        return base::make_error(Reason::kNoDatabase, "there is no database in '{}'",
                                folder.string());
    }
    std::vector<std::string> families;
    RAMPART_TRY(const auto environment, environment_of(folder, Access::kRead));
    rocksdb::DBOptions options;
    options.env = environment.get();
    const auto status = rocksdb::DB::ListColumnFamilies(options, folder.string(), &families);
    if (!status.ok()) return map_error(status, folder, "open");
    std::erase(families, kFormatFamily);  // Database::open's own
    return families;
}

}  // namespace rampart::storage
