public import Larder

extension Store {
  /// The inconsistencies of a store at the end of a test.
  public struct Faults: Error, CustomStringConvertible {
    public var description: String
  }

  /// Verifies and closes a test's store; throws if it is inconsistent.
  public func finish() throws {
    let faults = try verify().faults
    try close()
    guard faults.isEmpty else { throw Faults(description: "\(faults)") }
  }
}
