/// Whose limit room is made for, in which namespace, and what must stay meanwhile.
struct RoomRequest {
  enum Cause {
    /// The namespace's own limits.
    case namespace
    /// One of the store's, for which this namespace was chosen to give way.
    case store(RemovalReason)
  }

  var cause: Cause
  var id: NamespaceID
  var limits: Limits
  /// How many entries may leave in this go.
  var left = Int.max
  /// Places in the main database that must stay: the entry being written and its owners.
  var kept: Set<[UInt8]> = []
  /// What was found unable to leave, by sequence.
  var spared: Set<UInt64> = []
  /// Whether the newest entry stays, too.
  var sparesNewest = false
}
