#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include "fuzz.hpp"
#include "rampart/base/aead.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/storage/encryption.hpp"
#include "services/rampartd/hand_over_file.hpp"

/// Stands for the reading of a database, which is not linked here: only packing would ask for it.
rampart::base::Status rampart::storage::read_file_at_rest(
    const std::filesystem::path&, const std::function<base::Status(std::string_view)>&) {
    std::abort();
}

/// The file by which the training moves: it comes from another machine, and what is in it becomes
/// the registry of this one. No mutation finds the seals, so that the targets seal what they read.
namespace rampart::fuzz {
namespace {

namespace fs = std::filesystem;
using rampartd::HandOver;

constexpr std::string_view kFormat = "rampart training 1\n", kWords = "correct horse battery";
constexpr base::ScryptCost kCheap{10, 1, 1};
const std::vector<std::string> kParts{"registry", "privacy/register"};
const std::string kKey(base::kAeadKeyBytes, 'k');

/// A folder in memory, empty but for one file, gone at the end.
class Sandbox {
  public:
    Sandbox() { fs::create_directories(folder_); }
    ~Sandbox() { fs::remove_all(folder_); }
    Sandbox(const Sandbox&) = delete;
    Sandbox& operator=(const Sandbox&) = delete;
    fs::path file() const { return folder_ / "file"; }
    fs::path out() const { return folder_ / "out"; }

    /// Puts `content` into the file, and nothing besides.
    void begin(std::string_view content) const {
        fs::remove_all(out());
        RAMPART_CHECK(base::write_file_atomically(file(), content), "cannot write {}",
                      file().string());
    }
    /// Returns the content of all files, by the path from the folder.
    std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
            if (entry.is_directory()) continue;
            found[entry.path().lexically_relative(folder_).generic_string()] =
                base::read_file(entry.path(), 1 << 20).value();
        }
        found.erase("file");
        return found;
    }

  private:
    const fs::path folder_ =
        (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
        fmt::format("rampart.fuzz_hand_over.{}", ::getpid());
};

const Sandbox& sandbox() {
    static const Sandbox made;
    return made;
}

/// Checks a refusal; besides those of refused(), a file may have another passphrase, and names that
/// no disk takes.
bool file_refused(const base::Error& error) {
    if (error.reason != "wrong_passphrase" && error.reason != "io_error") return refused(error);
    FUZZ_LAW(error.message.size() <= kLongestMessage, "a message of {} bytes",
             error.message.size());
    return false;
}

HandOver small_about() {
    return {"00ff",  "loans",      "x.",
            "cards", "old",        {lease::Turn{3, std::string(16, 's')}, std::nullopt, false},
            7,       "abcd",       base::TimePoint::from_micros(5),
            "anna",  "new machine"};
}

/// Returns the first lines of a file, with the key of its frames.
const std::string& head() {
    static const std::string made =
        std::string(kFormat) + runtime::wrap_keys({{"split", "id", false, "secret"},
                                                   {"hand-over", "", false, base::to_hex(kKey)}},
                                                  kWords, kCheap)
                                   .value();
    return made;
}

std::string frame(uint64_t index, std::string_view plain) {
    std::string out;
    base::append_field(out, base::seal(kKey, fmt::format("{}{}", kFormat, index), plain));
    return out;
}

bool about(std::string_view bytes) {
    const auto read = rampartd::decode_hand_over(bytes);
    if (!read) return refused(read.error());
    FUZZ_LAW(rampartd::encode(*read) == bytes, "another form is accepted");
    FUZZ_LAW(!read->id.empty() &&
                 read->id.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos,
             "an id that is no name of a folder: {}", read->id);
    FUZZ_LAW(read->seat.held.has_value(), "no seat");
    return true;
}

/// Unpacks a complete file of these frames, each a length and a kind with content. What is accepted
/// is on the disk as it was sealed, below the parts, and nothing is anywhere else.
bool frames(std::string_view bytes) {
    Choices choices(bytes);
    auto content = head() + frame(0, 'a' + rampartd::encode(small_about()));
    std::map<std::string, std::string> wanted;
    std::string* open = nullptr;
    for (uint64_t index = 1; !choices.empty(); ++index) {
        const size_t length = choices.byte();
        const auto plain = choices.text(length);
        content += frame(index, plain);
        if (plain.starts_with('f')) {
            open = &wanted[fmt::format("out/{}", plain.substr(1))];
            open->clear();
        } else if (plain.starts_with('d') && open != nullptr) {
            *open += plain.substr(1);
        }
    }
    sandbox().begin(content);
    const auto read = rampartd::unpack_hand_over(sandbox().file(), kWords, sandbox().out(), kParts);
    const auto files = sandbox().files();
    for (const auto& [path, ignored] : files)
        FUZZ_LAW(path.starts_with("out/registry/") || path.starts_with("out/privacy/register/"),
                 "a file at {}", path);
    if (!read) return file_refused(read.error());
    FUZZ_LAW(read->about == small_about(), "it says something else of itself");
    FUZZ_LAW(files == wanted, "{} files, not the {} that were sealed", files.size(), wanted.size());
    return true;
}

/// Unpacks what follows the first lines: lengths and cuts. Seals are those of the seeds, or wrong.
bool tail(std::string_view bytes) {
    sandbox().begin(head() + std::string(bytes));
    const auto read = rampartd::unpack_hand_over(sandbox().file(), kWords, sandbox().out(), kParts);
    return read ? true : file_refused(read.error());
}

/// Says whether the second line asks for more work than a fuzzer has time for.
bool is_dear(std::string_view file) {
    unsigned log2_n = 0, r = 0, p = 0;
    const std::string line(file.substr(std::min(file.find('\n'), file.size() - 1) + 1, 64));
    if (std::sscanf(line.c_str(), "scrypt %u %u %u", &log2_n, &r, &p) != 3) return false;
    return log2_n > kCheap.log2_n || r > 2 || p > 2;
}

/// Reads the keys as text, from the first byte on.
bool key_lines(std::string_view bytes) {
    if (bytes.empty() || is_dear(bytes)) return false;
    const auto keys = runtime::unwrap_keys(bytes, kWords);
    return keys ? true : file_refused(keys.error());
}

/// Reads what is behind the seal of the keys.
bool keys(std::string_view bytes) {
    const auto& lines = head();
    const auto own = lines.substr(kFormat.size());
    const size_t end = own.find('\n', own.find('\n') + 1) + 1;
    const auto salt = base::from_hex(own.substr(end - 33, 32)).value();
    static const auto key = base::key_from_passphrase(kWords, salt, kCheap).value();
    const auto derivation = own.substr(0, end);
    const auto read = runtime::unwrap_keys(
        derivation + base::to_base64(base::seal(key, derivation, bytes)) + "\n", kWords);
    if (!read) return refused(read.error());
    const auto again =
        runtime::unwrap_keys(runtime::wrap_keys(*read, kWords, kCheap).value(), kWords);
    FUZZ_LAW(again && *again == *read, "reads back other keys");
    return true;
}

using Seeds = std::vector<std::string>;

std::string length_and(std::string_view plain) {
    return static_cast<char>(plain.size()) + std::string(plain);
}

Seeds frame_seeds() {
    return {
        length_and("fregistry/models/a.rmp") + length_and("dmod") + length_and("del") +
            length_and("fprivacy/register/1.sst") + length_and("e"),
        length_and("fregistry/a") + length_and("dx") + length_and("fregistry/a") + length_and("e")};
}

Seeds tail_seeds() {
    const auto first = frame(0, 'a' + rampartd::encode(small_about()));
    return {first + frame(1, "fregistry/a") + frame(2, "dx") + frame(3, "e")};
}

Seeds key_seeds() {
    std::string two;
    base::append_u32(two, 2);
    for (const char* name : {"draw", "split"}) {
        base::append_field(two, name);
        base::append_field(two, "id");
        base::append_u8(two, *name == 'd' ? 1 : 0);
        base::append_field(two, "secret");
    }
    std::string none;
    base::append_u32(none, 0);
    return {two, none};
}

// the file's first MiB and one piece of it are read at once
constexpr size_t kFileSpare = 4 << 20;

}  // namespace

std::vector<Target> targets() {
    return {
        {"about", about, [] { return Seeds{rampartd::encode(small_about())}; }},
        {"frames", frames, frame_seeds, kFileSpare},
        {"tail", tail, tail_seeds, kFileSpare},
        {"key_lines", key_lines, [] { return Seeds{head().substr(kFormat.size())}; }, kFileSpare},
        {"keys", keys, key_seeds, kFileSpare}};
}

}  // namespace rampart::fuzz
