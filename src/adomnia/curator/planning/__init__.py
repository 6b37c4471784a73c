"""What a question gets, costs and protects is decided here, on public facts alone."""
