#include "document_store.hpp"

#include <system_error>

#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"

namespace rampart::registry {
namespace {

constexpr unsigned kOwnerOnly = 0600;  // evidence contains groups and impacts

}  // namespace

base::Status DocumentStore::create_folder() const {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) {
        return base::make_error(base::Reason::kNoAccess, "{}: cannot make the folder: {}",
                                folder_.string(), error.message());
    }
    return base::ok();
}

base::Result<base::Digest> DocumentStore::put(std::string_view content) const {
    if (content.size() > limit_) {
        return base::make_error(reasons_.too_large, "{} of {} bytes: at most {} are kept", what_,
                                content.size(), limit_);
    }
    const auto id = base::sha256(content);
    if (get(id)) return id;
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(path_of(id), content, kOwnerOnly));
    return id;
}

base::Result<std::string> DocumentStore::get(const base::Digest& id) const {
    auto content = base::read_file(path_of(id), limit_);
    if (!content) {
        const auto& why = content.error();
        if (why.is(base::Reason::kFileTooLarge) || why.is(base::Reason::kIsFolder))
            return base::make_error(reasons_.other_content, "{}; restore the file from a copy",
                                    why.message);
        if (why.code != base::ErrorCode::kNotFound) return why;
        return base::make_error(reasons_.unknown, "{} {} is not in the registry ({})", what_,
                                id.hex(), path_of(id).string());
    }
    if (base::sha256(*content) != id) {
        return base::make_error(
            reasons_.other_content,
            "{}: the content is not the one that was registered (its SHA-256 differs from its "
            "name): restore the file from a copy",
            path_of(id).string());
    }
    return content;
}

}  // namespace rampart::registry
