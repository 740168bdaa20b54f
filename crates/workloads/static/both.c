/*
 * The forker and the starter as one program that is linked statically: the C library is nearly all of either. The name
 * that it is started by says which of them it is.
 */
#define main forker
#include "../forker/forker.c"
#undef main
#define main starter
#include "../starter/starter.c"
#undef main

int main(int count, char **words) {
    return strcmp(words[0], "starter") == 0 ? starter(count, words) : forker(count, words);
}
