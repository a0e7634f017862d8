// The entity types land here next.
