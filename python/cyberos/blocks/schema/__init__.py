"""The tables of block memory: files of SQL for each database, and what applies and checks them."""
