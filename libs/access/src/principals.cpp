#include "rampart/access/principals.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "rampart/access/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/config/table.hpp"

namespace rampart::access {
namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Status;

constexpr size_t kMaxFileBytes = 4 << 20;
constexpr size_t kMaxName = 64;
constexpr size_t kMaxCertificate = 500;
constexpr size_t kMaxNetworks = 50;
constexpr size_t kTokenBytes = 32;
// so that tools that look for secrets in files know one
constexpr std::string_view kTokenPrefix = "rampart_";

template <class... Args>
base::Error bad(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadPrincipal, format, std::forward<Args>(args)...);
}

/// The first bits of an address; all of them: an address.
struct Network {
    std::array<uint8_t, 16> bytes{};
    size_t family_bits = 0;  // 32: IPv4, 128: IPv6
    size_t bits = 0;
};

/// Reads a numeric address. An IPv4 address in its IPv6 form is one of IPv4.
std::optional<Network> read_address(const std::string& text) {
    constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    Network address;
    if (::inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) {
        address.family_bits = address.bits = 32;
        return address;
    }
    if (::inet_pton(AF_INET6, text.c_str(), address.bytes.data()) != 1) return std::nullopt;
    address.family_bits = address.bits = 128;
    if (std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin())) {
        std::copy(address.bytes.begin() + 12, address.bytes.end(), address.bytes.begin());
        address.family_bits = address.bits = 32;
    }
    return address;
}

/// Reads "10.0.0.0/8".
std::optional<Network> read_network(const std::string& text) {
    const auto slash = text.find('/');
    if (slash == std::string::npos) return std::nullopt;
    auto network = read_address(text.substr(0, slash));
    const char* end = text.data() + text.size();
    size_t bits = 0;
    const auto [last, failure] = std::from_chars(text.data() + slash + 1, end, bits);
    if (!network || failure != std::errc() || last != end || bits > network->family_bits)
        return std::nullopt;
    network->bits = bits;
    return network;
}

bool lies_in(const Network& address, const Network& network) {
    if (address.family_bits != network.family_bits) return false;
    for (size_t bit = 0; bit < network.bits; ++bit) {
        const auto differ = static_cast<uint8_t>(address.bytes[bit / 8] ^ network.bytes[bit / 8]);
        if ((differ >> (7 - bit % 8)) & 1) return false;
    }
    return true;
}

Status check_name(const std::string& name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    const bool valid = !name.empty() && name.size() <= kMaxName && letter(name.front()) &&
                       std::all_of(name.begin(), name.end(), [&](char c) {
                           return letter(c) || c == '.' || c == '_' || c == '-';
                       });
    if (valid) return base::ok();
    return bad("name '{}': give 1 to {} of a-z, 0-9, '.', '_' and '-', a letter or digit first",
               name.substr(0, kMaxName), kMaxName);
}

Status check_certificate(const std::string& name) {
    const bool printable = std::all_of(name.begin(), name.end(), [](char c) {
        return c >= ' ' && c != '"' && c != '\\' && c != '\x7f';
    });
    const bool known = name.starts_with("URI:") || name.starts_with("DNS:") ||
                       name.starts_with("email:") || name.starts_with("subject:");
    if (name.empty() || (known && printable && name.size() <= kMaxCertificate)) return base::ok();
    return bad("certificate '{}': write its name as in DNS:scoring.example or subject:CN=scoring",
               name.substr(0, 100));
}

/// Holds the lock of a file of principals, against other processes and threads.
class FileLock {
  public:
    static Result<FileLock> take(const fs::path& file) {
        const auto path = file.string() + ".lock";
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (descriptor < 0 || ::flock(descriptor, LOCK_EX) != 0) {
            auto error = base::make_error(base::Reason::kIoError, "cannot lock '{}': {}", path,
                                          std::strerror(errno));
            if (descriptor >= 0) ::close(descriptor);
            return error;
        }
        return FileLock(descriptor);
    }
    ~FileLock() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileLock& operator=(FileLock&&) = delete;

  private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

Result<std::optional<base::TimePoint>> time_of(config::Table& table, std::string_view key) {
    const auto text = table.string(key, "");
    if (text.empty()) return std::optional<base::TimePoint>();
    const auto time = base::parse_iso8601(text);
    if (!time) table.fail(key, time.error().message);
    return time ? std::optional(*time) : std::nullopt;
}

Result<Entry> entry_of(config::Table table) {
    Entry entry{.name = table.string("name"), .scopes = {}, .created = {}};
    const auto scopes = Scopes::parse(table.strings("scopes"));
    if (scopes)
        entry.scopes = *scopes;
    else
        table.fail("scopes", scopes.error().message);
    entry.token_sha256 = table.string("token_sha256", "");
    entry.previous_sha256 = table.string("previous_sha256", "");
    entry.certificate = table.string("certificate", "");
    entry.addresses = table.strings("addresses");
    RAMPART_TRY(entry.previous_until, time_of(table, "previous_until"));
    RAMPART_TRY(entry.expires, time_of(table, "expires"));
    RAMPART_TRY(const auto created, time_of(table, "created"));
    if (created) entry.created = *created;
    return entry;
}

std::string text_of(const Entry& entry) {
    std::string text = fmt::format("\n[[principal]]\nname = \"{}\"\nscopes = [\"{}\"]\n",
                                   entry.name, fmt::join(entry.scopes.names(), "\", \""));
    const auto put = [&](std::string_view key, const std::string& value) {
        if (!value.empty()) text += fmt::format("{} = \"{}\"\n", key, value);
    };
    const auto put_time = [&](std::string_view key, const std::optional<base::TimePoint>& time) {
        if (time) put(key, base::to_iso8601(*time));
    };
    put("token_sha256", entry.token_sha256);
    put("previous_sha256", entry.previous_sha256);
    put_time("previous_until", entry.previous_until);
    put("certificate", entry.certificate);
    if (!entry.addresses.empty())
        text += fmt::format("addresses = [\"{}\"]\n", fmt::join(entry.addresses, "\", \""));
    put("created", base::to_iso8601(entry.created));
    put_time("expires", entry.expires);
    return text;
}

Status write(const fs::path& file, const std::vector<Entry>& entries) {
    std::string text =
        "# Who may call this service. Made by `rampart token`; a token stands here as its "
        "SHA-256 only.\n";
    for (const auto& entry : entries) text += text_of(entry);
    return base::write_file_atomically(file, text, 0600);
}

auto find(std::vector<Entry>& entries, std::string_view name) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const Entry& entry) { return entry.name == name; });
}

base::Error no_principal(std::string_view name) {
    return base::make_error(Reason::kNoPrincipal, "there is no principal '{}'", name.substr(0, 64));
}

std::string new_token() {
    return std::string(kTokenPrefix) + base::to_hex(base::random_bytes(kTokenBytes));
}

}  // namespace

Status check(const Entry& entry) {
    RAMPART_RETURN_IF_ERROR(check_name(entry.name));
    RAMPART_RETURN_IF_ERROR(check_certificate(entry.certificate));
    if (entry.scopes.empty()) return bad("principal '{}' has no scope", entry.name);
    if (entry.token_sha256.empty() && entry.certificate.empty())
        return bad("principal '{}' has neither a token nor a certificate", entry.name);
    for (const auto* digest : {&entry.token_sha256, &entry.previous_sha256})
        if (!digest->empty() && !base::Digest::from_hex(*digest))
            return bad("principal '{}': '{}' is no SHA-256 of a token", entry.name,
                       digest->substr(0, 80));
    if (entry.previous_sha256.empty() != !entry.previous_until)
        return bad("principal '{}': previous_sha256 and previous_until go together", entry.name);
    if (entry.addresses.size() > kMaxNetworks)
        return bad("principal '{}': {} networks, at most {}", entry.name, entry.addresses.size(),
                   kMaxNetworks);
    for (const auto& network : entry.addresses)
        if (!read_network(network))
            return bad("principal '{}': '{}' is no network; write 10.0.0.0/8, or 10.1.2.3/32",
                       entry.name, network.substr(0, 80));
    return base::ok();
}

bool allows(const std::vector<std::string>& networks, std::string_view address) {
    if (networks.empty()) return true;
    const auto from = read_address(std::string(address));
    if (!from) return false;
    return std::any_of(networks.begin(), networks.end(), [&](const std::string& text) {
        const auto network = read_network(text);
        return network && lies_in(*from, *network);
    });
}

Result<std::vector<Entry>> read_principals(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0 && errno == ENOENT) return std::vector<Entry>();
    if ((status.st_mode & 077) != 0)
        return base::make_error(base::Reason::kSecretExposed,
                                "{}: others than its owner have access (mode {:04o}); chmod 600",
                                file.string(), status.st_mode & 07777);
    RAMPART_TRY(const auto text, base::read_file(file, kMaxFileBytes));
    RAMPART_TRY(auto root, config::parse(text, file.string()));
    std::vector<Entry> entries;
    for (const auto& table : root.tables("principal")) {
        RAMPART_TRY(entries.emplace_back(), entry_of(table));
    }
    RAMPART_RETURN_IF_ERROR(root.finish());
    for (size_t i = 0; i < entries.size(); ++i) {
        const auto& entry = entries[i];
        if (const auto valid = check(entry); !valid)
            return valid.error().with_context(file.string());
        for (size_t j = 0; j < i; ++j)
            if (entries[j].name == entry.name)
                return bad("{}: principal '{}' is there twice", file.string(), entry.name);
    }
    return entries;
}

Status add_principal(const fs::path& file, Entry entry) {
    RAMPART_RETURN_IF_ERROR(check(entry));
    RAMPART_TRY(const auto lock, FileLock::take(file));
    RAMPART_TRY(auto entries, read_principals(file));
    if (find(entries, entry.name) != entries.end())
        return base::make_error(Reason::kPrincipalExists, "there is a principal '{}' already",
                                entry.name);
    if (entries.size() >= kMaxPrincipals)
        return base::make_error(Reason::kTooManyPrincipals, "there are {} principals",
                                entries.size());
    entries.push_back(std::move(entry));
    return write(file, entries);
}

Result<std::string> create(const fs::path& file, Entry entry) {
    auto token = new_token();
    entry.token_sha256 = base::sha256(token).hex();
    RAMPART_RETURN_IF_ERROR(add_principal(file, std::move(entry)));
    return token;
}

Status revoke(const fs::path& file, std::string_view name) {
    RAMPART_TRY(const auto lock, FileLock::take(file));
    RAMPART_TRY(auto entries, read_principals(file));
    const auto found = find(entries, name);
    if (found == entries.end()) return no_principal(name);
    entries.erase(found);
    return write(file, entries);
}

Result<std::string> rotate(const fs::path& file, std::string_view name, base::TimePoint now,
                           base::Duration grace) {
    RAMPART_TRY(const auto lock, FileLock::take(file));
    RAMPART_TRY(auto entries, read_principals(file));
    const auto found = find(entries, name);
    if (found == entries.end()) return no_principal(name);
    if (found->token_sha256.empty())
        return bad("principal '{}' is known by its certificate, and has no token", name);
    auto token = new_token();
    const bool keep = grace > base::Duration();
    found->previous_sha256 = keep ? found->token_sha256 : "";
    found->previous_until = keep ? std::optional(now + grace) : std::nullopt;
    found->token_sha256 = base::sha256(token).hex();
    RAMPART_RETURN_IF_ERROR(write(file, entries));
    return token;
}

}  // namespace rampart::access
