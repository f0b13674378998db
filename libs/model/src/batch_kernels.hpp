#pragma once

#include <cstddef>
#include <cstdint>

#include "cut_columns.hpp"
#include "rampart/model/batch_engine.hpp"

/// The inner loops of BatchEngine, once in plain C++ and once for each instruction set.
namespace rampart::model {

inline constexpr size_t kBlock = 64;  // rows

/// One question of one tree. left, right, column: offsets into the block's arena, of kBlock bytes.
struct BlockNode {
    uint32_t column;
    uint32_t left, right;
    uint8_t cut;
};

/// A categorical question over at most 128 codes. out byte: 0 for members, 255 else.
struct MemberTest {
    uint32_t index, bit;  // offsets: code / 8 (0x80: none of these codes) and 1 << code % 8
    uint32_t out;         // offset
    uint8_t first;        // 0: what an earlier test found stays found
    uint8_t bits[16];     // the set
};

struct BatchKernels {
    /// right[i] = byte of x[i], i < kBlock: missing is above every cut, for nodes that send it
    /// right. left: the same, with 0 for missing.
    void (*bin)(const CutColumns& all, const CutColumn& column, const float* x, uint8_t* right,
                uint8_t* left);
    void (*members)(const MemberTest* tests, size_t count, uint8_t* arena);
    /// nodes[i]'s answers go to arena + out + i · kBlock.
    void (*select)(const BlockNode* nodes, size_t count, uint8_t* arena, uint32_t out);
};

const BatchKernels& batch_kernels(InstructionSet set);

}  // namespace rampart::model
