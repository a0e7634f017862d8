import Larder
import ShellLanguage

extension JSON {
  /// The key as the field of an object that has nothing else: bytes may be no text.
  static func key(_ entry: Store.Entry) -> JSON {
    .object([Cell.bytes(entry.key.bytes).jsonField("key")])
  }
}
