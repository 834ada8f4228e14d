"""Program to a lowered program: kernel, discretizers, input check, missing features, widths."""
