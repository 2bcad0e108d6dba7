"""Characters as the numbers that compiled code sees: bytes of ASCII text."""

TAB, NEWLINE, RETURN, SPACE = (ord(character) for character in "\t\n\r ")
HASH, MINUS, DOT, EQUALS = (ord(character) for character in "#-.=")
ZERO, NINE = ord("0"), ord("9")
A, B, D, E, F, I, R, S, U, W, Z = (ord(letter) for letter in "ABDEFIRSUWZ")
SMALL_A, SMALL_C, SMALL_F, SMALL_H, SMALL_I, SMALL_L, SMALL_N, SMALL_T, SMALL_W, SMALL_X = (
    ord(letter) for letter in "acfhilntwx"
)
SMALL = 32  # the bit that a letter has when it is small
