"""Writes the pages of what the tables are: `python tests/blocks/shapes.py`."""

from pathlib import Path

from cyberos.blocks import connector
from cyberos.blocks.schema import shape
from tests.blocks import servers


def write() -> None:
    """Makes the tables on both databases and writes down what they are."""
    with servers.memory_folder() as folder, servers.running() as server:
        file = servers.sqlite_template(folder)
        for url in (str(file), server.url(server.database())):
            database = connector.connect(url)
            page = Path(shape.__file__).parent / database.dialect / "shape.txt"
            with database.read() as transaction:
                page.write_text("\n".join(shape.describe(transaction, database.dialect)) + "\n", encoding="utf-8")
            database.close()


if __name__ == "__main__":
    write()
