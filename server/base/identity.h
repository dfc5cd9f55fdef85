/** Names for what happens once, such as a request: told apart in logs, here and elsewhere. */
#ifndef SL_BASE_IDENTITY_H
#define SL_BASE_IDENTITY_H

enum { SL_IDENTITY_SIZE = 33 };

/** 128 random bits as 32 lower-case hexadecimal digits and a NUL. */
void sl_identity_text(char out[SL_IDENTITY_SIZE]);

#endif
