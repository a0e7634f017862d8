// The first types land here next.
