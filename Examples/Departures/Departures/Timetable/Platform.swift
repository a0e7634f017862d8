/// A platform of a station: `3`, `3AB`, `43/44`, `F`.
public struct Platform: Codable, Hashable, Sendable, CustomStringConvertible {
  public var name: String
  /// Whether it differs from the planned one.
  public var isChanged: Bool

  /// Nil for none, which the service sends as "" or null. It marks a changed platform with `!`.
  public init?(_ planned: String?, prognosis: String? = nil) {
    let was = planned.map { Self.bare($0) } ?? ""
    let now = prognosis.map { Self.bare($0) } ?? ""
    guard !(was.isEmpty && now.isEmpty) else { return nil }
    name = now.isEmpty ? was : now
    isChanged =
      planned?.contains("!") == true || prognosis?.contains("!") == true
      || (!now.isEmpty && !was.isEmpty && now != was)
  }

  public var description: String { isChanged ? name + "!" : name }

  private static func bare(_ text: String) -> String {
    String(text.filter { $0 != "!" && !$0.isWhitespace })
  }
}
