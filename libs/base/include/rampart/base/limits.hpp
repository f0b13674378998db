#pragma once

#include <cstddef>
#include <cstdint>

/// A limit on everything that comes from outside. Each is tested at the limit and one past it.
namespace rampart::base::limits {

inline constexpr size_t kMaxIdBytes = 128;     // application, decision and person ids
inline constexpr size_t kMaxNameBytes = 128;   // features, measures, groups, topics
inline constexpr size_t kMaxTextBytes = 1024;  // one categorical value
inline constexpr size_t kMaxFeatures = 1024;
/// Names and texts of an application, with 16 bytes for each: a decision with it fits into a
/// record.
inline constexpr size_t kMaxApplicationBytes = 512 << 10;
inline constexpr size_t kMaxReasons = 64;            // of one decision
inline constexpr size_t kMaxReasonBytes = 160;       // a feature's name fits
inline constexpr size_t kMaxCategories = 4096;       // of one feature
inline constexpr size_t kMaxGroups = 64;             // protected groups, intersections among them
inline constexpr size_t kMaxTrees = 20'000;          // of one link's ensembles
inline constexpr size_t kMaxMembers = 20'000;        // of one link that is a mixture
inline constexpr size_t kMaxLeaves = 4096;           // of one tree
inline constexpr size_t kMaxChainLinks = 64;         // of one policy
inline constexpr size_t kMaxRows = 50'000'000;       // of one data set
inline constexpr size_t kMaxRecordBytes = 1 << 20;   // one record of a topic
inline constexpr size_t kMaxBatch = 1000;            // applications or outcomes in one request
inline constexpr size_t kMaxRequestBytes = 8 << 20;  // one HTTP body
inline constexpr size_t kMaxModelFileBytes = 512u << 20;
inline constexpr size_t kMaxCertificateBytes = 16u << 20;

}  // namespace rampart::base::limits
