/// A failed conformance check of a codec or a clock.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// The checked type, such as `JSONCodec<Color>`.
  public let subject: String
  /// The broken promises, a sentence each.
  public let problems: [String]

  /// The subject and its problems, in a line each.
  public var description: String {
    "\(subject) does not conform:\n" + problems.map { "- \($0)" }.joined(separator: "\n")
  }

  /// Throws if there are problems.
  static func throwing(_ problems: [String], of subject: Any) throws(ConformanceFailure) {
    guard problems.isEmpty else {
      throw ConformanceFailure(subject: "\(type(of: subject))", problems: problems)
    }
  }
}
