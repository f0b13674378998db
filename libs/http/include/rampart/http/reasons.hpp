#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::http {

#define RAMPART_HTTP_REASONS(X)                                                                  \
    X(kAdministrativeBusy, kResourceExhausted, "administrative_busy",                            \
      "Try again when the training run has finished.")                                           \
    X(kAnswerTooLarge, kResourceExhausted, "answer_too_large", "Ask for less at once.")          \
    X(kBadAddress, kInvalidArgument, "bad_address",                                              \
      "Give a numeric address like 127.0.0.1 or ::1.")                                           \
    X(kBadEndpoint, kInvalidArgument, "bad_endpoint",                                            \
      "Write host:port or https://host:port, as in 127.0.0.1:8080.")                             \
    X(kBadHost, kInvalidArgument, "bad_host",                                                    \
      "Send exactly one Host header, of the form host or host:port.")                            \
    X(kBadHttp, kInvalidArgument, "bad_http",                                                    \
      "Speak plain HTTP/1.1 on this port, and check that the port belongs to this service.")     \
    X(kFoldedHeader, kInvalidArgument, "folded_header", "Write each header on one line.")        \
    X(kBadHttpAnswer, kDataLoss, "bad_http",                                                     \
      "Speak plain HTTP/1.1 on this port, and check that the port belongs to this service.")     \
    X(kBadTarget, kInvalidArgument, "bad_target",                                                \
      "Ask for a path that begins with '/', in valid percent-encoding.")                         \
    X(kBadThreads, kInvalidArgument, "bad_threads",                                              \
      "Give a number of threads in the range that the message names.")                           \
    X(kBadTlsCertificate, kInvalidArgument, "bad_tls_certificate",                               \
      "Give a PEM file with certificates, of the server or client first, then the authorities "  \
      "between it and a root; keys of 2048 bits (RSA) or 256 (curves) at least.")                \
    X(kBadTlsKey, kInvalidArgument, "bad_tls_key",                                               \
      "Give the PEM file of a private key without a passphrase, readable by this user only.")    \
    X(kBadTransferEncoding, kInvalidArgument, "bad_transfer_encoding",                           \
      "Send the body with Content-Length, or chunked.")                                          \
    X(kBodyTooLarge, kOutOfRange, "body_too_large", "Send a shorter body, or several requests.") \
    X(kCannotListen, kUnavailable, "cannot_listen",                                              \
      "Free the address and the port, or choose others.")                                        \
    X(kHandlerFailed, kInternal, "handler_failed",                                               \
      "Look into the service's log at the time of the request; report the case.")                \
    X(kHeadersTooLarge, kOutOfRange, "headers_too_large",                                        \
      "Send a shorter request line and fewer headers.")                                          \
    X(kMethodNotAllowed, kInvalidArgument, "method_not_allowed",                                 \
      "Use one of the methods that the header Allow lists.")                                     \
    X(kNoConnection, kUnavailable, "no_connection",                                              \
      "Check address and port, and that the service is up.")                                     \
    X(kPlaintextBeyondLoopback, kFailedPrecondition, "plaintext_beyond_loopback",                \
      "Give certificate_file and key_file in [http.tls], listen on 127.0.0.1, or, behind a "     \
      "proxy that speaks TLS, say [http] plaintext = \"any_address\".")                          \
    X(kPortInUse, kFailedPrecondition, "port_in_use",                                            \
      "Stop the program that uses the port, or choose another port.")                            \
    X(kPortNotAllowed, kPermissionDenied, "port_not_allowed", "Use a port from 1024 on.")        \
    X(kTlsCertificateExpired, kFailedPrecondition, "tls_certificate_expired",                    \
      "Renew the certificate (ops/runbooks/tls.md).")                                            \
    X(kTlsCertificateNotYetValid, kFailedPrecondition, "tls_certificate_not_yet_valid",          \
      "Check the clock of this machine, or give a certificate that is valid now.")               \
    X(kTlsHandshakeFailed, kUnavailable, "tls_handshake_failed",                                 \
      "Check that the port speaks TLS 1.2 or 1.3, and whether it asks for a client's "           \
      "certificate.")                                                                            \
    X(kTlsKeyMismatch, kInvalidArgument, "tls_key_mismatch",                                     \
      "Give the certificate and the key that were made together.")                               \
    X(kTlsNotTrusted, kPermissionDenied, "tls_not_trusted",                                      \
      "Give the authority that signed the service's certificate, and a host that it names; if "  \
      "the service's certificate was replaced, send the service SIGHUP.")                        \
    X(kTlsRequired, kInvalidArgument, "tls_required",                                            \
      "Ask with https:// (TLS); this port answers no plain HTTP.")                               \
    X(kTooManyBytes, kResourceExhausted, "too_many_bytes",                                       \
      "Send the request again a little later, or send fewer at once.")                           \
    X(kTooManyConnections, kResourceExhausted, "too_many_connections",                           \
      "Close idle connections, then try again.")                                                 \
    X(kTooManyConnectionsOfPrincipal, kResourceExhausted, "too_many_connections_of_principal",   \
      "Send requests on connections that are open, or raise http.connections_by_principal.")     \
    X(kTooManyRequests, kResourceExhausted, "too_many_requests",                                 \
      "Send fewer requests each second; the header Retry-After says when to go on.")             \
    X(kTooManyStreams, kResourceExhausted, "too_many_streams",                                   \
      "End streams of events that are not needed, or raise http.event_streams.")                 \
    X(kUnknownPath, kNotFound, "unknown_path",                                                   \
      "Correct the path; schemas/http/openapi.yaml lists all.")                                  \
    X(kWaitTooLong, kResourceExhausted, "wait_too_long",                                         \
      "Try again later; for good, add a node or raise http.longest_wait_ms.")
RAMPART_REASONS("http", RAMPART_HTTP_REASONS)

}  // namespace rampart::http
