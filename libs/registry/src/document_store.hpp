#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::registry {

/// Reasons of one kind of file.
struct DocumentReasons {
    Reason too_large, unknown, other_content;
};

/// A folder of files named by the SHA-256 of their content. Thread safe.
class DocumentStore {
  public:
    /// `what` is the kind of file in errors ("model"), `extension` includes its dot. No file is
    /// longer than `limit`.
    DocumentStore(std::filesystem::path folder, std::string what, DocumentReasons reasons,
                  std::string extension, size_t limit)
        : folder_(std::move(folder)),
          what_(std::move(what)),
          reasons_(reasons),
          extension_(std::move(extension)),
          limit_(limit) {}

    base::Status create_folder() const;
    /// Stores a file durably. Does not touch an intact file with this content, and
    /// replaces a damaged one.
    base::Result<base::Digest> put(std::string_view content) const;
    /// Fails with the reasons unknown and other_content.
    base::Result<std::string> get(const base::Digest& id) const;

    /// Returns the path of a file relative to the registry's folder.
    std::string name_of(const base::Digest& id) const {
        return (folder_.filename() / path_of(id).filename()).generic_string();
    }

  private:
    std::filesystem::path path_of(const base::Digest& id) const {
        return folder_ / (id.hex() + extension_);
    }

    std::filesystem::path folder_;
    std::string what_;
    DocumentReasons reasons_;
    std::string extension_;
    size_t limit_;
};

}  // namespace rampart::registry
