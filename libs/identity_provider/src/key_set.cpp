#include "key_set.hpp"

#include <cjose/cjose.h>

#include <boost/json.hpp>

#include "rampart/access/reasons.hpp"
#include "rampart/identity_provider/reasons.hpp"

namespace rampart::identity_provider {
namespace {

namespace json = boost::json;
using base::Result;

constexpr size_t kLeastModulusBytes = 256;  // 2048 bits

base::Error bad_token(std::string_view why) {
    return base::make_error(access::Reason::kUnauthenticated, "the token is not taken: {}", why);
}

base::Error bad_set(std::string_view why) {
    return base::make_error(Reason::kBadKeySet, "the key set {}", why);
}

/// Returns a member that is a text; empty: there is none.
std::string_view text_of(const json::object& object, std::string_view member) {
    const auto* value = object.if_contains(member);
    const auto* text = value == nullptr ? nullptr : value->if_string();
    return text == nullptr ? std::string_view() : std::string_view(*text);
}

bool is_of_rsa(std::string_view algorithm) {
    return algorithm.starts_with("RS") || algorithm.starts_with("PS");
}

/// Whether it is an asymmetric one: no secret of ours could verify another.
bool is_taken(std::string_view algorithm) {
    if (algorithm.size() != 5) return false;
    const auto kind = algorithm.substr(0, 2), bits = algorithm.substr(2);
    return (kind == "RS" || kind == "PS" || kind == "ES") &&
           (bits == "256" || bits == "384" || bits == "512");
}

struct ReleaseJws {
    void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};

}  // namespace

void Provider::Keys::Release::operator()(_cjose_jwk_int* key) const { cjose_jwk_release(key); }

Result<std::shared_ptr<const Provider::Keys>> Provider::Keys::parse(std::string_view text) {
    boost::system::error_code failure;
    const auto document = json::parse(text, failure);
    const auto* object = failure ? nullptr : document.if_object();
    const auto* list = object == nullptr ? nullptr : object->if_contains("keys");
    if (list == nullptr || !list->is_array()) return bad_set("is no JSON with an array \"keys\"");
    auto keys = std::make_shared<Keys>();
    for (const auto& one : list->get_array()) {
        const auto* key = one.if_object();
        if (key == nullptr) return bad_set("has a key that is no object");
        const auto type = text_of(*key, "kty"), use = text_of(*key, "use"),
                   id = text_of(*key, "kid");
        if (key->contains("d") || type == "oct")
            return bad_set(
                fmt::format("has a secret in key '{}': only public keys belong here", id));
        if ((type != "RSA" && type != "EC") || (!use.empty() && use != "sig")) continue;
        // base64url has four letters for three bytes
        if (type == "RSA" && text_of(*key, "n").size() * 3 / 4 < kLeastModulusBytes)
            return bad_set(fmt::format("has an RSA key '{}' of less than 2048 bits", id));
        const auto bytes = json::serialize(*key);
        cjose_err error{};
        Key read{std::string(id), std::string(text_of(*key, "alg")), type == "RSA", {}};
        read.handle.reset(cjose_jwk_import(bytes.data(), bytes.size(), &error));
        if (!read.handle)
            return bad_set(fmt::format("has a key '{}' that cannot be read: {}", id,
                                       error.message == nullptr ? "-" : error.message));
        keys->keys_.push_back(std::move(read));
    }
    if (keys->keys_.empty()) return bad_set("has no key for signatures");
    return keys;
}

/// Returns the key that the token names, or the only one; nullptr: there is none that fits.
const Provider::Keys::Key* Provider::Keys::find(std::string_view id,
                                                std::string_view algorithm) const {
    const Key* found = nullptr;
    for (const auto& key : keys_) {
        if (key.rsa != is_of_rsa(algorithm)) continue;
        if (!key.algorithm.empty() && key.algorithm != algorithm) continue;
        if (!id.empty() && key.id != id) continue;
        if (found != nullptr) return nullptr;  // it does not say which
        found = &key;
    }
    return found;
}

Result<std::string> Provider::Keys::verify(std::string_view token) const {
    cjose_err error{};
    const std::unique_ptr<cjose_jws_t, ReleaseJws> jws(
        cjose_jws_import(token.data(), token.size(), &error));
    if (!jws) return bad_token("it is no signed JWT");
    auto* header = cjose_jws_get_protected(jws.get());
    const auto member = [&](const char* name) {
        const char* value = header == nullptr ? nullptr : cjose_header_get(header, name, &error);
        return value == nullptr ? std::string_view() : std::string_view(value);
    };
    const auto algorithm = member("alg");
    if (!is_taken(algorithm)) return bad_token("its algorithm is none of those that are taken");
    // extensions that a reader must understand (RFC 7515, section 4.1.11): none is known here
    if (char* critical = cjose_header_get_raw(header, "crit", &error); critical != nullptr) {
        cjose_get_dealloc()(critical);
        return bad_token("its header has \"crit\"");
    }
    const Key* key = find(member("kid"), algorithm);
    if (key == nullptr) return bad_token("its key is not among those of the provider");
    if (!cjose_jws_verify(jws.get(), key->handle.get(), &error))
        return bad_token("its signature is wrong");
    uint8_t* bytes = nullptr;
    size_t size = 0;
    if (!cjose_jws_get_plaintext(jws.get(), &bytes, &size, &error))
        return bad_token("it has no claims");
    return std::string(reinterpret_cast<const char*>(bytes), size);
}

}  // namespace rampart::identity_provider
