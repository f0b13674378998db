#pragma once

#include <filesystem>

/// TLS of servers and clients. Files are PEM.
namespace rampart::http {

enum class TlsVersion { k12, k13 };

/// How a server speaks TLS. Its own certificate also counts as that of a client, whatever
/// client_ca_file has: who holds its key operates the service.
struct TlsFiles {
    std::filesystem::path certificate;  // the server's, then authorities below the root
    std::filesystem::path key;          // the first certificate's; no access for others
    std::filesystem::path client_ca;    // whose certificates clients must show; empty: none asked
    TlsVersion least = TlsVersion::k13;
};

/// Whom a client trusts, and what it shows. The name of the host is always checked, except that a
/// pinned certificate is trusted as it is.
struct ClientTls {
    std::filesystem::path ca;                // empty: the authorities that the system trusts
    std::filesystem::path pinned;            // the service's own certificate; no other is trusted
    std::filesystem::path certificate, key;  // for a service that asks; both or none
};

}  // namespace rampart::http
