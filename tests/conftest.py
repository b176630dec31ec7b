"""Its place puts this directory on the import path: tests share `cases` and the like."""
