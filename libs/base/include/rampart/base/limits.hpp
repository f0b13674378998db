#pragma once

#include <cstddef>
#include <cstdint>

/// Limits on everything that comes from outside. Tests cover each limit and the value past it.
namespace rampart::base::limits {

inline constexpr size_t kMaxIdBytes = 128;     // application, decision and person ids
inline constexpr size_t kMaxNameBytes = 128;   // features, measures, groups, topics
inline constexpr size_t kMaxTextBytes = 1024;  // one categorical value
inline constexpr size_t kMaxFeatures = 1024;
/// sum over the names and texts of an application, plus 16 bytes for each, so that a decision with
/// it fits into one record
inline constexpr size_t kMaxApplicationBytes = 512 << 10;
inline constexpr size_t kMaxReasons = 64;            // per decision
inline constexpr size_t kMaxReasonBytes = 160;       // enough for a feature's name
inline constexpr size_t kMaxGroups = 64;             // protected groups, including intersections
inline constexpr size_t kMaxTrees = 20'000;          // per link, over all its ensembles
inline constexpr size_t kMaxMembers = 20'000;        // per link that is a mixture
inline constexpr size_t kMaxLeaves = 4096;           // per tree
inline constexpr size_t kMaxChainLinks = 64;         // per policy
inline constexpr size_t kMaxRows = 50'000'000;       // per data set
inline constexpr size_t kMaxRecordBytes = 1 << 20;   // per record of a topic
inline constexpr size_t kMaxBatch = 1000;            // applications or outcomes per request
inline constexpr size_t kMaxRequestBytes = 8 << 20;  // per HTTP body
inline constexpr size_t kMaxModelFileBytes = 512u << 20;
inline constexpr size_t kMaxCertificateBytes = 16u << 20;

}  // namespace rampart::base::limits
