/* adaptation.h -- steps of the adaptation of an emitted model, for driver.c and harness.c. */
#ifndef BNCC_ADAPTATION_H
#define BNCC_ADAPTATION_H

#include "bncc_model.h"

/* Steps: a decision alone, one after all is forgotten, or from 2 on after a class is learned. */
#define ADAPTATION_FORGET 1U
#define ADAPTATION_LEARN 2U

/* Words of a row before the states: a step, and the scores. */
#define ADAPTATION_WORDS (1U + MODEL_N_CLASSES)

static MODEL_ADAPTATION_TYPE adaptation;

#ifdef MODEL_ADAPTED_SCORES
/* Six bits that all bits of all scores have a part in. */
static uint32_t adaptation_digest(const MODEL_COST *scores)
{
    uint32_t sum = 0U;
    uint32_t c;

    for (c = 0U; c < MODEL_N_CLASSES; c++) {
        sum = (sum * 31U) + (uint32_t)scores[c];
    }
    sum ^= sum >> 16;
    sum ^= (sum >> 6) ^ (sum >> 12);
    return sum & 0x3FU;
}
#endif

/* The adapted class, with 256 added where learning has moved offsets, and 512 times the digest. */
static int16_t adaptation_step(const uint32_t *words, const MODEL_STATE *states)
{
    const uint32_t step = words[0];
    MODEL_COST scores[MODEL_N_CLASSES];
    int16_t moved = 0;
    int16_t y;
    uint32_t c;

    for (c = 0U; c < MODEL_N_CLASSES; c++) {
        scores[c] = (MODEL_COST)words[1U + c];
    }
    if (step >= ADAPTATION_LEARN) {
        const uint8_t label = (uint8_t)(step - ADAPTATION_LEARN);

        moved = (int16_t)MODEL_LEARN(&adaptation, states, scores, label);
    } else if (step == ADAPTATION_FORGET) {
        MODEL_FORGET(&adaptation);
    } else {
        /* Nothing comes before the decision. */
    }
    y = (int16_t)(MODEL_ADAPTED_CLASS(&adaptation, states, scores) + (moved * 256));
#ifdef MODEL_ADAPTED_SCORES
    MODEL_ADAPTED_SCORES(&adaptation, states, scores, scores);
    y = (int16_t)(y + ((int16_t)adaptation_digest(scores) * 512));
#endif
    return y;
}

#endif
