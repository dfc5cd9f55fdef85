/** What people leave around the output of a tool: colours, prompts, greetings. Lines keep their
 * numbers. */
#ifndef SL_INTAKE_TIDY_H
#define SL_INTAKE_TIDY_H

#include "intake/format.h"

/** UTF-16, as PowerShell writes it, as UTF-8; any other text as it is. SL_E_MEMORY. */
sl_code sl_tidy_utf16(const sl_raw *raw, sl_arena *arena, sl_raw *out,
                      sl_errors *err) SL_MUST_CHECK;

/** The text without terminal sequences; the same text where it has none, or no memory is left. */
sl_raw sl_tidy_escapes(const sl_raw *raw, sl_arena *arena);

/** Bytes of the prompt of a shell that begins a line, up to its mark: "admin@head:~$ sinfo", "[root@head
 * ~]# sinfo", "$ sinfo". 0: none does. */
size_t sl_tidy_prompt(const char *line, size_t length);

/** Prompts of a shell, and marks of code, that stand before or behind the output become blanks; the
 * same text where there are none, or no memory is left. */
sl_raw sl_tidy_prompts(const sl_raw *raw, sl_arena *arena);

/** Without what a launcher put before each line: a host or task before nodes of Slurm, which name
 * themselves ("gpu01: NodeName="); the number of one task before anything ("0: "). Any other text
 * as it is. SL_E_SYNTAX, rule hosts_take_turns, where the lines of one node are not together;
 * SL_E_UNSUPPORTED, rule tasks_unnamed, of several tasks that do not say where they ran.
 * SL_E_MEMORY. */
sl_code sl_tidy_prefixes(const sl_raw *raw, sl_arena *arena, sl_raw *out,
                         sl_errors *err) SL_MUST_CHECK;

/** JSON that begins on a line of its own after a few others, as behind a prompt: they, and what
 * follows the last bracket that closes at the end of a line, become blanks. False where none is
 * there. */
bool sl_tidy_json(const sl_raw *raw, sl_arena *arena, sl_raw *out);

#endif
