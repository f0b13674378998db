#include "rampart/identity_provider/provider.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "key_set.hpp"
#include "rampart/access/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"

namespace rampart::identity_provider {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;
using base::Status;
using base::TimePoint;

constexpr size_t kMaxKeysBytes = 1 << 20;
constexpr size_t kMaxVerified = 1000;  // tokens that are remembered
constexpr size_t kMaxNameBytes = 128;
constexpr double kMaxSeconds = 1e11;  // beyond any date

base::Error not_taken(std::string_view why) {
    return base::make_error(access::Reason::kUnauthenticated, "the token is not taken: {}", why);
}

/// Returns a time that a claim states in seconds since 1970 (RFC 7519, section 2).
Result<TimePoint> time_of(const json::object& claims, const char* name) {
    const auto* value = claims.if_contains(name);
    if (value == nullptr || !value->is_number())
        return not_taken(fmt::format("it has no time \"{}\"", name));
    const double seconds = value->to_number<double>();
    if (!(seconds >= 0 && seconds < kMaxSeconds))
        return not_taken(fmt::format("its \"{}\" is no date", name));
    return TimePoint::from_micros(static_cast<int64_t>(seconds * 1e6));
}

/// Returns the texts of a claim: of an array, or of a text the whole or its words.
std::vector<std::string> texts_of(const json::object& claims, std::string_view name, bool words) {
    std::vector<std::string> texts;
    const auto* value = claims.if_contains(name);
    if (value == nullptr) return texts;
    if (const auto* list = value->if_array()) {
        for (const auto& one : *list)
            if (one.is_string()) texts.emplace_back(one.get_string());
    } else if (value->is_string()) {
        std::string_view rest = value->get_string();
        while (words && !rest.empty()) {
            const auto end = std::min(rest.find(' '), rest.size());
            if (end > 0) texts.emplace_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        if (!words) texts.emplace_back(rest);
    }
    return texts;
}

/// Returns the scopes that the words give.
access::Scopes scopes_of(const std::vector<std::string>& words, std::string_view prefix) {
    access::Scopes scopes;
    for (const auto& word : words) {
        if (!word.starts_with(prefix)) continue;
        for (const auto& scope : access::kScopes) {
            if (word.substr(prefix.size()) == scope.text && scope.value != access::Scope::kGrant)
                scopes.add(scope.value);
        }
    }
    return scopes;
}

/// Whether a name can stand in the audit log as it is.
bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= kMaxNameBytes &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// The principals of a service, and those of a provider.
class Both final : public access::Authenticator {
  public:
    Both(std::shared_ptr<const access::Authenticator> principals,
         std::shared_ptr<const Provider> provider)
        : principals_(std::move(principals)), provider_(std::move(provider)) {}
    Result<access::Principal> identify(const access::Caller& caller) const override {
        return Provider::has_form_of(caller.token) ? provider_->identify(caller)
                                                   : principals_->identify(caller);
    }

  private:
    const std::shared_ptr<const access::Authenticator> principals_;
    const std::shared_ptr<const Provider> provider_;
};

}  // namespace

/// Keys, and the tokens that were verified with them: a signature costs more than a digest.
struct Provider::Verified {
    std::shared_ptr<const Keys> keys;
    std::mutex mutex;                    // guards what follows
    std::map<std::string, Known> known;  // by SHA-256 of the token
};

Provider::Provider(ProviderSettings settings, const base::Clock& clock)
    : settings_(std::move(settings)), clock_(clock) {}

Provider::~Provider() = default;

Result<std::shared_ptr<Provider>> Provider::open(ProviderSettings settings,
                                                 const base::Clock& clock) {
    std::shared_ptr<Provider> provider(new Provider(std::move(settings), clock));
    provider->stamp_ = provider->stamp();
    RAMPART_RETURN_IF_ERROR(provider->load());
    return provider;
}

Provider::Stamp Provider::stamp() const {
    std::error_code ec;
    Stamp stamp{fs::last_write_time(settings_.keys, ec), 0};
    if (!ec) stamp.second = fs::file_size(settings_.keys, ec);
    return stamp;
}

Status Provider::load() {
    RAMPART_TRY(const auto text, base::read_file(settings_.keys, kMaxKeysBytes));
    auto keys = Keys::parse(text);
    if (!keys) return keys.error().with_context(settings_.keys.string());
    auto verified = std::make_shared<Verified>();
    verified->keys = *std::move(keys);
    const std::lock_guard lock(mutex_);
    verified_ = std::move(verified);
    return base::ok();
}

Result<bool> Provider::refresh() {
    const auto now = stamp();
    {
        const std::lock_guard lock(mutex_);
        if (now == stamp_) return false;
        stamp_ = now;
    }
    RAMPART_RETURN_IF_ERROR(load());
    return true;
}

bool Provider::has_form_of(std::string_view token) {
    return std::count(token.begin(), token.end(), '.') == 2;
}

Result<Provider::Known> Provider::verify(const Keys& keys, std::string_view token) const {
    RAMPART_TRY(const auto text, keys.verify(token));
    boost::system::error_code failure;
    const auto document = json::parse(text, failure);
    const auto* claims = failure ? nullptr : document.if_object();
    if (claims == nullptr) return not_taken("its claims are no JSON object");
    if (texts_of(*claims, "iss", false) != std::vector{settings_.issuer})
        return not_taken("it is of another issuer");
    const auto audiences = texts_of(*claims, "aud", false);
    if (std::find(audiences.begin(), audiences.end(), settings_.audience) == audiences.end())
        return not_taken("it is for another audience");
    Known known;
    RAMPART_TRY(const auto issued, time_of(*claims, "iat"));
    RAMPART_TRY(known.until, time_of(*claims, "exp"));
    known.from = issued;
    if (claims->contains("nbf")) {
        RAMPART_TRY(const auto begin, time_of(*claims, "nbf"));
        known.from = std::max(known.from, begin);
    }
    if (known.until - issued > settings_.longest_life)
        return not_taken("it is valid for longer than http.oidc.longest_minutes");
    known.from = known.from - kClockSkew;
    known.until = known.until + kClockSkew;
    const auto names = texts_of(*claims, settings_.principal_claim, false);
    if (names.size() != 1 || !is_name(names.front()))
        return not_taken(fmt::format("its \"{}\" is no name of 1 to {} printable characters",
                                     settings_.principal_claim, kMaxNameBytes));
    known.principal = {
        "oidc:" + names.front(),
        scopes_of(texts_of(*claims, settings_.scopes_claim, true), settings_.scope_prefix)};
    return known;
}

Result<Provider::Known> Provider::look_up(std::string_view token) const {
    const auto verified = [this] {
        const std::lock_guard lock(mutex_);
        return verified_;
    }();
    const auto digest = base::sha256(token).hex();
    {
        const std::lock_guard lock(verified->mutex);
        const auto found = verified->known.find(digest);
        if (found != verified->known.end()) return found->second;
    }
    RAMPART_TRY(auto known, verify(*verified->keys, token));
    const std::lock_guard lock(verified->mutex);
    if (verified->known.size() >= kMaxVerified) verified->known.clear();
    verified->known.insert_or_assign(digest, known);
    return known;
}

Result<access::Principal> Provider::identify(const access::Caller& caller) const {
    if (caller.token.size() > kMaxTokenBytes) return not_taken("it is too long");
    RAMPART_TRY(const Known known, look_up(caller.token));
    const auto now = clock_.now();
    if (now < known.from) return not_taken("it is not valid yet");
    if (now >= known.until)
        return base::make_error(access::Reason::kTokenExpired,
                                "the token of '{}' ended at {}; ask the identity provider for "
                                "another",
                                known.principal.name, base::to_iso8601(known.until - kClockSkew));
    return known.principal;
}

std::shared_ptr<const access::Authenticator> with_provider(
    std::shared_ptr<const access::Authenticator> principals,
    std::shared_ptr<const Provider> provider) {
    if (provider == nullptr) return principals;
    return std::make_shared<const Both>(std::move(principals), std::move(provider));
}

}  // namespace rampart::identity_provider
