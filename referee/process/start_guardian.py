"""The file that is executed to start a guardian: a few lines to compile, the rest comes from the byte-code cache.

Compiling `guardian.py` again for every bot would cost 5 ms and 1 MB.
"""

import sys

if __name__ == "__main__":
    sys.path.append(__file__.rpartition("/referee/process/")[0])
    from referee.process.guardian import main

    main(sys.argv[1:])
