/// What was written first leaves first.
struct FIFOPolicy: EvictionPolicy {
  func inserted(
    _ entry: Candidate, into queue: inout some EvictionQueue & ~Copyable
  ) throws(LarderError) {}

  func makeRoom(in queue: inout some EvictionQueue & ~Copyable) throws(LarderError) {
    var sequence: UInt64 = 0
    while queue.isOver, let next = try queue.first(from: sequence) {
      sequence = next.sequence + 1
      _ = try queue.evict(next)
    }
  }
}
