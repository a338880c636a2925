// Runs any model on inputs that are the same on every machine and writes down
// every bit of its answers. Needs nothing but model.h, so that it runs where
// there is no operating system.

#ifndef ONNXC_TEST_MACHINES_ANSWER_H
#define ONNXC_TEST_MACHINES_ANSWER_H

#include "onnxc/model.h"

// Where text goes; provided by the machine.
void put(const char *text);

// Calls the model `times` times. Float inputs take their elements from the held
// out digits, whose bytes follow each other in `records`; others are zero.
// Everything lies in `memory`. Returns the first status that is not 0.
int32_t answer(const onnxc_model *model, const unsigned char *records,
               uint32_t record_bytes, uint32_t times, char *memory,
               uint64_t memory_bytes);

#endif // ONNXC_TEST_MACHINES_ANSWER_H
