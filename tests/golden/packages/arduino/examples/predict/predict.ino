// This generated file may be used under any terms; see LICENSE-EXCEPTION of bncc.
// Self-test on a board: prints the class of every test vector, then PASS or FAIL.
#include <Arduino.h>

#include <gait.h>

#include "gait_vectors.h"

// Class of a vector from its readings, which are in flash on AVR. Your sketch fills in the members.
static int16_t predict_vector(uint8_t n) {
  gait_raw_t reading;

  memcpy_P(&reading, &gait_vector_readings[n], sizeof reading);
  return gait_predict_raw(&reading);
}

void setup() {
  Serial.begin(115200);
  while (!Serial) {
    // boards with native USB wait for a serial monitor
  }
  for (uint8_t n = 0; n < GAIT_N_VECTORS; n++) {
    const int16_t label = predict_vector(n);

    Serial.print(F("vector "));
    Serial.print(n);
    Serial.print(F(": class "));
    Serial.print(label);
    Serial.print(F(" "));
    Serial.println((const __FlashStringHelper *)gait_class_name((uint8_t)label));
  }

  const int wrong = gait_selftest();

  Serial.print(GAIT_N_VECTORS);
  Serial.print(F(" vectors, "));
  Serial.print(wrong);
  Serial.println((wrong == 0) ? F(" wrong: PASS") : F(" wrong: FAIL"));
}

void loop() {
}
