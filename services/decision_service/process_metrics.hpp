#pragma once

#include "rampart/http/traffic.hpp"
#include "rampart/runtime/metrics.hpp"

/// What every service says of itself in /metrics.
namespace rampart::decision_service {

/// Writes memory, CPU time, threads, file descriptors and start time of this process, by the names
/// that Prometheus' client libraries give them. What /proc does not tell is left out.
void write_process(runtime::Samples& out);

/// Writes requests and connections.
void write_traffic(const http::Traffic& traffic, runtime::Samples& out);

}  // namespace rampart::decision_service
