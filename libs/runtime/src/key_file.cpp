#include "rampart/runtime/key_file.hpp"

#include <charconv>
#include <optional>

#include "rampart/base/aead.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/runtime/reasons.hpp"

namespace rampart::runtime {
namespace {

using base::Result;

constexpr std::string_view kFormat = "rampart keys 1";
constexpr size_t kSaltBytes = 16;

base::Error bad_file(std::string_view what) {
    return base::make_error(Reason::kBadKeyFile, "not a file of exported keys: {}", what);
}

/// Takes the text up to `end` from the front; nullopt: there is no such end.
std::optional<std::string_view> next(std::string_view& text, char end) {
    const size_t at = text.find(end);
    if (at == text.npos) return std::nullopt;
    const auto taken = text.substr(0, at);
    text.remove_prefix(at + 1);
    return taken;
}

std::optional<unsigned> number(std::optional<std::string_view> word) {
    unsigned value = 0;
    if (!word) return std::nullopt;
    const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), value);
    if (error != std::errc() || end != word->data() + word->size()) return std::nullopt;
    return value;
}

/// Derives the key that the second line describes.
Result<std::string> derived(std::string_view line, std::string_view passphrase) {
    if (next(line, ' ') != "scrypt") return bad_file("its second line is not that of scrypt");
    const auto log2_n = number(next(line, ' ')), r = number(next(line, ' ')),
               p = number(next(line, ' '));
    const auto salt = base::from_hex(line);
    if (!log2_n || !r || !p || !salt || salt->size() != kSaltBytes)
        return bad_file("its second line has no cost or no salt");
    return base::key_from_passphrase(passphrase, *salt, {*log2_n, *r, *p});
}

Result<std::vector<StoredKey>> decode(std::string_view bytes) {
    base::ByteReader in(bytes);
    RAMPART_TRY(const uint32_t count, in.u32());
    std::vector<StoredKey> keys;
    for (uint32_t i = 0; i < count; ++i) {
        StoredKey key;
        RAMPART_TRY(const auto name, in.field());
        RAMPART_TRY(const auto id, in.field());
        RAMPART_TRY(const uint8_t retired, in.u8());
        RAMPART_TRY(const auto content, in.field());
        keys.push_back({std::string(name), std::string(id), retired != 0, std::string(content)});
    }
    if (!in.empty()) return bad_file("there is more behind the keys");
    return keys;
}

}  // namespace

Result<std::string> wrap_keys(const std::vector<StoredKey>& keys, std::string_view passphrase,
                              const base::ScryptCost& cost) {
    if (passphrase.size() < kMinPassphraseBytes) {
        return base::make_error(Reason::kShortPassphrase, "the passphrase has {} bytes, not {}",
                                passphrase.size(), kMinPassphraseBytes);
    }
    std::string plain;
    base::append_u32(plain, static_cast<uint32_t>(keys.size()));
    for (const auto& key : keys) {
        base::append_field(plain, key.name);
        base::append_field(plain, key.id);
        base::append_u8(plain, key.retired ? 1 : 0);
        base::append_field(plain, key.content);
    }
    const auto salt = base::random_bytes(kSaltBytes);
    const auto head = fmt::format("{}\nscrypt {} {} {} {}\n", kFormat, cost.log2_n, cost.r, cost.p,
                                  base::to_hex(salt));
    RAMPART_TRY(const auto key, base::key_from_passphrase(passphrase, salt, cost));
    return head + base::to_base64(base::seal(key, head, plain)) + "\n";
}

Result<std::vector<StoredKey>> unwrap_keys(std::string_view file, std::string_view passphrase) {
    std::string_view rest = file;
    const auto format = next(rest, '\n'), derivation = next(rest, '\n'), body = next(rest, '\n');
    if (format != kFormat) return bad_file(fmt::format("it does not begin with '{}'", kFormat));
    if (!derivation || !body || !rest.empty()) return bad_file("it does not have three lines");
    const auto sealed = base::from_base64(*body);
    if (!sealed) return bad_file("its third line is not base64");
    RAMPART_TRY(const auto key, derived(*derivation, passphrase));
    const auto head = file.substr(0, format->size() + derivation->size() + 2);
    const auto plain = base::unseal(key, head, *sealed);
    if (!plain) {
        return base::make_error(Reason::kWrongPassphrase,
                                "the passphrase does not open the file, or the file was changed");
    }
    return decode(*plain);
}

}  // namespace rampart::runtime
