/// The service does not have it.
public struct Missing: Error, Hashable, CustomStringConvertible {
  public var key: String
  public var place: String
  public var description: String { "\(key) is not in \(place)" }
}

/// A service without an address.
public struct NoAddress: Error, Hashable, CustomStringConvertible {
  public var service: String
  public var description: String { "there is no address for \(service)" }
}
