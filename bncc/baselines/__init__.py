"""What an engineer would try instead: small quantized networks, and the usual classifiers."""
