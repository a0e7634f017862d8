import Larder
import ShellLanguage

/// The entries that a command skips because this program cannot read their values.
final class UnreadableValues {
  private let unknown: UnknownTransforms
  private let notify: (SafeText) throws -> Void
  private var count = 0
  private var form: String?

  var isEmpty: Bool { count == 0 }

  init(_ unknown: UnknownTransforms, notify: @escaping (SafeText) throws -> Void) {
    self.unknown = unknown
    self.notify = notify
  }

  /// Counts and names the entry if its value cannot be read; returns whether that is so.
  func take(_ entry: Store.Entry) throws -> Bool {
    guard let transform = unknown.first(of: entry) else { return false }
    count += 1
    form = transform.name
    try notify("note: \(Self.description(of: entry))")
    return true
  }

  /// `the value of "a", 7 B, is encrypted (AES-GCM)`
  static func description(of entry: Store.Entry) -> SafeText {
    let forms = entry.transforms.map(\.name).joined(separator: " and ")
    return "the value of \(entry.key.bytes), \(Wording.size(entry.size)), is \(forms)"
  }

  /// Throws if a value could not be read.
  ///
  /// - Parameter others: The number of values that could be read.
  func check(others: Int) throws(ShellError) {
    guard let form else { return }
    throw ShellError(
      .unreadable,
      "\(Wording.count(count)) of \(Wording.count(count + others, "value", "values")) \(count == 1 ? "is" : "are") \(form)",
      hint: ShellError.unreadableHint)
  }
}
