#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/registry/model_registry.hpp"

/// Encoding of the registry's smaller records; the id is the key, not part of the value.
namespace rampart::registry {

std::string encode(const ModelInfo& info);
base::Result<ModelInfo> decode_model_info(std::string_view id, std::string_view bytes);

std::string encode(const CertificateInfo& info);
base::Result<CertificateInfo> decode_certificate_info(std::string_view id, std::string_view bytes);

}  // namespace rampart::registry
