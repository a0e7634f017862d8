/// Why a dump could not be read, and where.
public struct DumpError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// Absent, or the system refuses to read it.
    case unreadable
    /// Compressed data that is cut short or damaged, or no unpacker on this machine.
    case damaged
    /// Not CSV.
    case malformed
    /// CSV, but without a column that is needed.
    case missingColumn
    /// A field of the wrong form for its column.
    case badValue
    /// A row that names a row of another file which is not there, or has the key of a row before it; it is skipped.
    case skipped
  }

  public var kind: Kind
  public var file: String
  /// From 1; `nil` when the whole file is meant.
  public var line: Int?
  /// In bytes, from 1; `nil` when the whole line is meant.
  public var column: Int?
  public var message: String

  public init(
    _ kind: Kind, file: String, line: Int? = nil, column: Int? = nil, message: String
  ) {
    self.kind = kind
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }

  /// `parts.csv:12:7: the reason`
  public var description: String {
    let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
    return "\(file)\(place): \(message)"
  }
}
