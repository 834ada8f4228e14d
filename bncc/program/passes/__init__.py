"""One file per pass: what it rewrites, why the answer is unchanged, when it fires."""
