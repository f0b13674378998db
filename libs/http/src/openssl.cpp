#include "openssl.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "rampart/base/file.hpp"
#include "rampart/base/file_access.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/http/reasons.hpp"

namespace rampart::http {
namespace {

using base::Result;
using base::Status;

constexpr size_t kMaxPemBytes = 1 << 20;

using BioPtr = std::unique_ptr<BIO, Release<BIO_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Release<GENERAL_NAMES_free>>;

BioPtr memory_of(const std::string& text) {
    return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Refuses to ask for a passphrase at the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Result<KeyPtr> read_key(const NamedFile& file) {
    struct stat status {};
    if (::stat(file.path.c_str(), &status) != 0) {
        return base::make_error(Reason::kBadTlsKey, "{}: {}: {}", file.field, file.path.string(),
                                std::strerror(errno));
    }
    if (base::others_have_access(file.path, status.st_mode)) {
        return base::make_error(base::Reason::kSecretExposed,
                                "{}: {}: others than its owner have access (mode {:04o}); chmod "
                                "600, and make a new key if they may have read it",
                                file.field, file.path.string(), status.st_mode & 07777);
    }
    auto text = base::read_file(file.path, kMaxPemBytes);
    if (!text)
        return base::make_error(Reason::kBadTlsKey, "{}: {}", file.field, text.error().message);
    ERR_clear_error();
    KeyPtr key(PEM_read_bio_PrivateKey(memory_of(*text).get(), nullptr, no_passphrase, nullptr));
    OPENSSL_cleanse(text->data(), text->size());
    if (key) return key;
    ERR_clear_error();
    return base::make_error(Reason::kBadTlsKey,
                            "{}: {}: is no private key in PEM, or has a passphrase", file.field,
                            file.path.string());
}

base::TimePoint time_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
    return base::TimePoint::from_micros(static_cast<int64_t>(::timegm(&parts)) * 1'000'000);
}

std::string printable(const unsigned char* bytes, size_t size) {
    const bool plain = std::all_of(bytes, bytes + size,
                                   [](unsigned char byte) { return byte >= 0x20 && byte < 0x7f; });
    return plain ? std::string(reinterpret_cast<const char*>(bytes), size) : std::string();
}

/// Returns the first name of a kind; empty: none.
std::string alternative(const GENERAL_NAMES* names, int kind) {
    for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
        const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
        if (name->type != kind) continue;
        const ASN1_STRING* text = name->d.ia5;
        auto found =
            printable(ASN1_STRING_get0_data(text), static_cast<size_t>(ASN1_STRING_length(text)));
        if (!found.empty()) return found;
    }
    return "";
}

std::string subject_of(X509* certificate) {
    const BioPtr out(BIO_new(BIO_s_mem()));
    X509_NAME_print_ex(out.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return printable(reinterpret_cast<const unsigned char*>(text), static_cast<size_t>(size));
}

}  // namespace

std::string openssl_error() {
    const unsigned long code = ERR_peek_last_error();
    ERR_clear_error();
    const char* text = ERR_reason_error_string(code);
    return text != nullptr ? text : "not known to OpenSSL";
}

Result<std::vector<X509Ptr>> read_certificates(const NamedFile& file) {
    const auto text = base::read_file(file.path, kMaxPemBytes);
    if (!text)
        return base::make_error(Reason::kBadTlsCertificate, "{}: {}", file.field,
                                text.error().message);
    const auto memory = memory_of(*text);
    std::vector<X509Ptr> found;
    ERR_clear_error();
    while (X509* one = PEM_read_bio_X509(memory.get(), nullptr, no_passphrase, nullptr))
        found.emplace_back(one);
    // "no start line" is the end of the file; anything else is a certificate that is damaged
    const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    if (ended && !found.empty()) return found;
    return base::make_error(Reason::kBadTlsCertificate, "{}: {}: {}", file.field,
                            file.path.string(),
                            ended ? "has no certificate in PEM" : "has a damaged certificate");
}

Result<Identity> read_identity(const NamedFile& certificate, const NamedFile& key) {
    Identity identity;
    RAMPART_TRY(identity.chain, read_certificates(certificate));
    RAMPART_TRY(identity.key, read_key(key));
    if (X509_check_private_key(identity.chain.front().get(), identity.key.get()) == 1)
        return identity;
    ERR_clear_error();
    return base::make_error(Reason::kTlsKeyMismatch,
                            "{}: {}: is not the key of the first certificate in {}", key.field,
                            key.path.string(), certificate.path.string());
}

Status check_valid_now(const std::vector<X509Ptr>& chain, const NamedFile& file) {
    for (size_t i = 0; i < chain.size(); ++i) {
        const ASN1_TIME* from = X509_get0_notBefore(chain[i].get());
        const ASN1_TIME* to = X509_get0_notAfter(chain[i].get());
        if (X509_cmp_current_time(to) <= 0) {
            return base::make_error(Reason::kTlsCertificateExpired,
                                    "{}: {}: certificate {} ended {}", file.field,
                                    file.path.string(), i + 1, base::to_iso8601(time_of(to)));
        }
        if (X509_cmp_current_time(from) >= 0) {
            return base::make_error(Reason::kTlsCertificateNotYetValid,
                                    "{}: {}: certificate {} begins {}", file.field,
                                    file.path.string(), i + 1, base::to_iso8601(time_of(from)));
        }
    }
    return base::ok();
}

base::TimePoint end_of(const std::vector<X509Ptr>& chain) {
    auto end = time_of(X509_get0_notAfter(chain.front().get()));
    for (const auto& one : chain) end = std::min(end, time_of(X509_get0_notAfter(one.get())));
    return end;
}

Status use_identity(SSL_CTX* context, const Identity& identity, const NamedFile& file) {
    ERR_clear_error();
    bool taken = SSL_CTX_use_certificate(context, identity.chain.front().get()) == 1 &&
                 SSL_CTX_use_PrivateKey(context, identity.key.get()) == 1;
    for (size_t i = 1; taken && i < identity.chain.size(); ++i)
        taken = SSL_CTX_add1_chain_cert(context, identity.chain[i].get()) == 1;
    if (taken) return base::ok();
    return base::make_error(Reason::kBadTlsCertificate, "{}: {}: {}", file.field,
                            file.path.string(), openssl_error());
}

void trust(SSL_CTX* context, const std::vector<X509Ptr>& authorities) {
    X509_STORE* store = SSL_CTX_get_cert_store(context);
    // an authority between a root and those that it signs may be the one that is trusted
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    for (const auto& one : authorities) X509_STORE_add_cert(store, one.get());
    ERR_clear_error();
}

std::string name_of(X509* certificate) {
    const NamesPtr names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
    ERR_clear_error();
    const std::pair<int, const char*> kinds[] = {
        {GEN_URI, "URI:"}, {GEN_DNS, "DNS:"}, {GEN_EMAIL, "email:"}};
    for (const auto& [kind, prefix] : kinds) {
        const auto name = names ? alternative(names.get(), kind) : "";
        if (!name.empty()) return prefix + name;
    }
    const auto subject = subject_of(certificate);
    return subject.empty() ? "" : "subject:" + subject;
}

}  // namespace rampart::http
