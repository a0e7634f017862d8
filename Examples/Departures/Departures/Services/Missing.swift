/// A service was asked, and there is no such thing.
public struct Missing: Error, Hashable, CustomStringConvertible {
  public var key: String
  public var place: String
  public var description: String { "\(key) is not in \(place)" }
}

/// A service that nobody can be asked for: its address was not said.
public struct NoAddress: Error, Hashable, CustomStringConvertible {
  public var service: String
  public var description: String { "nobody has said where to ask for \(service)" }
}
