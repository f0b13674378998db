#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::protected_attributes {

#define RAMPART_PROTECTED_ATTRIBUTES_REASONS(X)                                                  \
    X(kBadAttribute, kInvalidArgument, "bad_attribute",                                          \
      "Give attribute and values names of printable ASCII, and two values or more.")             \
    X(kBadAttributeName, kInvalidArgument, "bad_attribute_name",                                 \
      "Give the attribute a name of the allowed length.")                                        \
    X(kBadAttributeValue, kInvalidArgument, "bad_attribute_value",                               \
      "Give a value of the allowed length, or leave the attribute out.")                         \
    X(kBadJson, kOutOfRange, "bad_json",                                                         \
      "Give one whole JSON document, as schemas/http/openapi.yaml describes it for "             \
      "requests; restore a damaged file from a copy.")                                           \
    X(kBadProtobuf, kDataLoss, "bad_protobuf",                                                   \
      "Look at the record's writer: the bytes are of another type, or damaged.")                 \
    X(kBadType, kInvalidArgument, "bad_type",                                                    \
      "Send texts as strings, and attributes as an object.")                                     \
    X(kDuplicateAttribute, kInvalidArgument, "duplicate_attribute",                              \
      "Declare or give every attribute once.")                                                   \
    X(kDuplicateAttributeValue, kInvalidArgument, "duplicate_attribute_value",                   \
      "Declare every value of an attribute once.")                                               \
    X(kDuplicateField, kInvalidArgument, "duplicate_field", "Give every field once.")            \
    X(kKeyDiffers, kDataLoss, "key_differs",                                                     \
      "Look at the record's writer: the key has to be the id of the person in the record.")      \
    X(kMissingField, kInvalidArgument, "missing_field", "Add the field that the message names.") \
    X(kNoAttributes, kInvalidArgument, "no_attributes",                                          \
      "Declare at least one protected attribute.")                                               \
    X(kTooManyAttributes, kOutOfRange, "too_many_attributes", "Declare fewer attributes.")       \
    X(kUnknownAttributeValue, kInvalidArgument, "unknown_attribute_value",                       \
      "Send one of the declared values, or declare this one.")                                   \
    X(kUnknownField, kInvalidArgument, "unknown_field", "Leave the field out, or correct its name.")
RAMPART_REASONS("protected_attributes", RAMPART_PROTECTED_ATTRIBUTES_REASONS)

}  // namespace rampart::protected_attributes
