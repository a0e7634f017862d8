/// The changes that reads leave for the next commit of this process.
struct ReadLeftovers: Sendable {
  /// Accesses that postpone the expiry of entries with a time to idle.
  let accesses: PendingAccesses
  /// Expired entries that reads have found and that the commit removes.
  let expirations = PendingExpirations()
}
