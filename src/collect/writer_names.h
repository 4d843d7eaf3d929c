/*
 * Texts to numbers: each distinct text is a row of the file's table `string`, once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The text's id; bytes that are not UTF-8 become question marks, and long texts are cut. */
uint32_t names_put(const char *text, size_t length);
uint32_t names_put_text(const char *text); /* NULL is the empty text, 0 */

/* The same for the text of a range or a mark.  Some programs never say the same one twice, and
 * train for weeks: after 100,000 texts each new one is "(one of too many texts)". */
uint32_t names_put_range(const char *text, size_t length);

/* The same for a text whose owner shows it again and again at one address. */
uint32_t names_put_shown(const char *text);
