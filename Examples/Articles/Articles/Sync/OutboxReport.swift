/// The result of sending the changes.
public struct OutboxReport: Codable, Sendable, Hashable {
  public var sent = 0
  /// Changes that were dropped because the service has a later one, or refuses them.
  public var conflicts: [String] = []
  /// Changes that wait for a network, or for a usable answer.
  public var left = 0
  /// Why changes wait that the service could be asked about.
  public var reasons: [String] = []
  /// Whether the service refuses the user.
  public var isRefused = false

  mutating func add(_ conflict: String?, of edit: PendingEdit) {
    if let conflict { conflicts.append("\(edit.text): \(conflict)") } else { sent += 1 }
  }
}
