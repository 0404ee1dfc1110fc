/* Plays any game from the text that a person would read: every question ends in "choose 0 to N within S s". */
#include <stdio.h>

int main(void) {
    static char line[1 << 16];
    unsigned long turn = 0, last;

    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "choose 0 to %lu within", &last) == 1) {
            turn = turn * 6364136223846793005UL + 1442695040888963407UL;
            printf("%lu\n", (turn >> 33) % (last + 1));
            fflush(stdout); /* a pipe is buffered: without this the answer never leaves */
        }
    }
    return 0;
}
