"""Models as data: blobs that a firmware loads, their reader, and the C runtime that checks them."""
