#pragma once

#include <filesystem>

namespace rampart::base {

/// Returns whether others than its owner have access to a file with a secret. `mode` is st_mode of
/// stat(2). Where the file has an access control list, the group's bits of `mode` are its mask, not
/// the access of a group: what counts then is the list, in which the user of this process may
/// stand. So systemd hands credentials to a service: 0400 of root, shown as 0440. A list that
/// cannot be read counts as access.
bool others_have_access(const std::filesystem::path& path, unsigned mode);

}  // namespace rampart::base
