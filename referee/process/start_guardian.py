"""The file that is executed to start a guardian: two lines to compile, so that the rest comes from the byte-code cache.

Compiling `guardian.py` anew for every bot would cost 5 ms and 1 MB.
"""

import sys

if __name__ == "__main__":
    sys.path.append(__file__.rpartition("/")[0])
    __import__("guardian").main(sys.argv[1:])
