/// A service was asked, and there is no such thing.
public struct Missing: Error, Hashable, CustomStringConvertible {
  public var key: String
  public var place: String
  public var description: String { "\(key) is not in \(place)" }
}
