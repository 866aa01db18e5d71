/* What the program that runs the image stores in it; see application/src/constants.c. */
extern const unsigned other_hz;

const unsigned other_hz = 0;
