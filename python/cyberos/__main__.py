import sys

from cyberos.cli.main import main

sys.exit(main())
