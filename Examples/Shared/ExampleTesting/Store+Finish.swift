public import Larder

extension Store {
  /// What a check of the whole store found at the end of a test.
  public struct Faults: Error, CustomStringConvertible {
    public var description: String
  }

  /// Closes a test's store; throws if anything in it does not agree with everything else.
  public func finish() throws {
    let faults = try verify().faults
    try close()
    guard faults.isEmpty else { throw Faults(description: "\(faults)") }
  }
}
