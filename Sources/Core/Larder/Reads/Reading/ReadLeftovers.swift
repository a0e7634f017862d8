/// The work that reads leave to the next commit that this process makes.
struct ReadLeftovers: Sendable {
  /// Accesses that move the expirations of entries with a time to idle.
  let accesses: PendingAccesses
  /// Expired entries that reads have found.
  let expirations = PendingExpirations()
}
