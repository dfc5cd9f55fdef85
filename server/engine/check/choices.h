/** One field of a plan at another value: what sl_question_choices tries, and who hints at
 * values. */
#ifndef SL_ENGINE_CHOICES_H
#define SL_ENGINE_CHOICES_H

#include "shardline/plan.h"

/** What requests call each field. */
extern const char *const sl_choice_names[SL_CHOICE_COUNT];

/** Sets a field, and the schedule where chunks say which; it is no longer unknown. */
void sl_choice_set(sl_question *question, sl_choice field, uint64_t value);

/** Sets the data-parallel degree that the others leave; false, and as it was, where they leave
 * none. */
bool sl_choice_derive(sl_question *question);

/** Smallest and largest value worth trying: nothing outside can pass a check. */
uint64_t sl_choice_first(sl_choice field);
uint64_t sl_choice_last(const sl_question *question, sl_choice field);

/** Whether another field makes stages unequal. */
bool sl_choice_is_uneven(const sl_question *question, const sl_question *tried);

#endif
