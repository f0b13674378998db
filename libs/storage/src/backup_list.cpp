#include "backup_list.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "rampart/storage/reasons.hpp"

namespace rampart::storage {
namespace {

using base::Result;
using Kind = BackupItem::Kind;

constexpr std::string_view kFirstLine = "rampart-backup 1";
constexpr std::string_view kKindNames[] = {"database", "file", "secret"};
constexpr size_t kMaxPathBytes = 4096;
constexpr unsigned kMaxMode = 0777;

base::Error damaged(std::string_view what) {
    return base::make_error(Reason::kBackupDamaged, "the list of the backup is damaged: {}", what);
}

/// Takes words off the front of a line; what does not fit makes it bad, for good.
struct Line {
    std::string_view rest;
    bool good = true;

    std::string_view word() {
        const size_t space = rest.find(' ');
        if (space == std::string_view::npos) good = false;
        const auto word = rest.substr(0, space);
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        return word;
    }
    template <class T>
    T number(std::string_view text, int number_base = 10) {
        T value{};
        const auto* end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, value, number_base);
        if (error != std::errc() || stopped != end) good = false;
        return value;
    }
};

Result<BackupList::Entry> decode_entry(std::string_view text) {
    Line line{text};
    BackupList::Entry entry;
    const auto* kind = std::find(std::begin(kKindNames), std::end(kKindNames), line.word());
    if (kind == std::end(kKindNames)) return damaged("a line of no known kind");
    entry.item.kind = static_cast<Kind>(kind - std::begin(kKindNames));
    if (entry.item.kind == Kind::kDatabase) {
        entry.engine_id = line.number<uint32_t>(line.word());
        entry.bytes = line.number<uint64_t>(line.word());
    } else {
        entry.mode = line.number<unsigned>(line.word(), 8);
        entry.bytes = line.number<uint64_t>(line.word());
        RAMPART_TRY(entry.digest, base::Digest::from_hex(line.word()));
    }
    entry.item.path = line.rest;
    if (!line.good || entry.mode > kMaxMode || !check_item(entry.item)) {
        return damaged("a line makes no sense");
    }
    return entry;
}

std::string without_end(const BackupList& list) {
    std::string out =
        fmt::format("{}\nid {}\ncreated {}\n", kFirstLine, list.id, list.created.micros());
    for (const auto& entry : list.entries) {
        const auto name = kKindNames[static_cast<size_t>(entry.item.kind)];
        if (entry.item.kind == Kind::kDatabase) {
            out +=
                fmt::format("{} {} {} {}\n", name, entry.engine_id, entry.bytes, entry.item.path);
        } else {
            out += fmt::format("{} {:o} {} {} {}\n", name, entry.mode, entry.bytes,
                               entry.digest.hex(), entry.item.path);
        }
    }
    return out;
}

}  // namespace

bool BackupInfo::with_secrets() const {
    return std::any_of(items.begin(), items.end(),
                       [](const auto& item) { return item.kind == Kind::kSecret; });
}

BackupInfo BackupList::info() const {
    BackupInfo info{
        .id = id, .created = created, .items = {}, .bytes = 0, .digests = {}, .damage = {}};
    for (const auto& entry : entries) {
        info.items.push_back(entry.item);
        info.bytes += entry.bytes;
        if (entry.item.kind == Kind::kDatabase) continue;
        info.digests.emplace(entry.item.path, entry.digest);
    }
    return info;
}

base::Status check_item(const BackupItem& item) {
    const std::filesystem::path path(item.path);
    bool good = !item.path.empty() && item.path.size() <= kMaxPathBytes && path.is_relative() &&
                item.path.find('\n') == std::string::npos &&
                item.path.find('\0') == std::string::npos;
    good = good && path.lexically_normal() == path && path != "." && *path.begin() != "..";
    if (good) return base::ok();
    return base::make_error(Reason::kBadBackupItem,
                            "'{}' cannot be backed up: give a path inside the store, without "
                            "'..' and line breaks, of at most {} bytes",
                            item.path, kMaxPathBytes);
}

std::string encode(const BackupList& list) {
    const auto text = without_end(list);
    return text + fmt::format("end {}\n", base::sha256(text).hex());
}

Result<BackupList> decode_backup_list(std::string_view text) {
    const size_t end = text.rfind("end ");
    if (end == std::string_view::npos) return damaged("it has no end");
    const auto content = text.substr(0, end);
    if (text.substr(end) != fmt::format("end {}\n", base::sha256(content).hex())) {
        return damaged("its checksum does not fit");
    }
    BackupList list;
    std::set<std::string> seen;
    size_t number = 0;
    for (size_t at = 0; at < content.size(); ++number) {
        const auto line = content.substr(at, content.find('\n', at) - at);
        at += line.size() + 1;
        if (number == 0 && line != kFirstLine) return damaged("it is of another format");
        Line words{line};
        if (number == 1 || number == 2) {
            const auto name = words.word();
            if (name != (number == 1 ? "id" : "created")) return damaged("a line is missing");
            if (number == 1) list.id = words.number<uint64_t>(words.rest);
            if (number == 2) {
                list.created = base::TimePoint::from_micros(words.number<int64_t>(words.rest));
            }
            if (!words.good) return damaged("a number is none");
        }
        if (number <= 2) continue;
        RAMPART_TRY(auto entry, decode_entry(line));
        if (!seen.insert(entry.item.path).second) return damaged("a path is there twice");
        list.entries.push_back(std::move(entry));
    }
    if (number < 3 || encode(list) != text) return damaged("it is not as we write it");
    return list;
}

}  // namespace rampart::storage
