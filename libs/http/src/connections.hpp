#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "session.hpp"
#include "tls_context.hpp"

/// The streams of connections: plain TCP, and TLS over it.
namespace rampart::http {

/// Makes the session of a socket that was accepted. `tls`: nullptr without TLS.
std::shared_ptr<Session> make_session(asio::ip::tcp::socket socket, Shared& shared,
                                      Sessions& sessions, bool spare, ServerTls* tls);

}  // namespace rampart::http
