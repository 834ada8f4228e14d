"""What an agreement check asks, from table rows and readings, and the answers Python gives."""
