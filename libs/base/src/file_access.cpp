#include "rampart/base/file_access.hpp"

#include <endian.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace rampart::base {
namespace {

// linux/posix_acl_xattr.h: a version, then entries, all little-endian
constexpr uint32_t kVersion = 2;
constexpr size_t kMostEntries = 64;
enum Tag : uint16_t { kOwner = 0x01, kUser = 0x02, kMask = 0x10 };
struct Entry {
    uint16_t tag, access;
    uint32_t id;
};

/// Returns whether an entry is about another user or a group, and grants something.
bool grants_others(const Entry& entry) {
    const auto tag = le16toh(entry.tag);
    if (entry.access == 0 || tag == kOwner || tag == kMask) return false;
    return tag != kUser || le32toh(entry.id) != ::geteuid();
}

}  // namespace

bool others_have_access(const std::filesystem::path& path, unsigned mode) {
    if ((mode & 077) == 0) return false;
    if ((mode & 07) != 0) return true;
    std::array<char, sizeof(kVersion) + kMostEntries * sizeof(Entry)> list;
    const ssize_t size =
        ::getxattr(path.c_str(), "system.posix_acl_access", list.data(), list.size());
    if (size < static_cast<ssize_t>(sizeof(kVersion))) return true;
    uint32_t version = 0;
    std::memcpy(&version, list.data(), sizeof(version));
    if (le32toh(version) != kVersion) return true;
    for (size_t at = sizeof(version); at < static_cast<size_t>(size); at += sizeof(Entry)) {
        Entry entry{};
        if (at + sizeof(entry) > static_cast<size_t>(size)) return true;
        std::memcpy(&entry, list.data() + at, sizeof(entry));
        if (grants_others(entry)) return true;
    }
    return false;
}

}  // namespace rampart::base
