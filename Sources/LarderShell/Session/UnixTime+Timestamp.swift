import Larder
import ShellLanguage

extension Timestamp {
  init(_ time: UnixTime) { self.init(milliseconds: time.milliseconds) }

  /// The same moment in the shell's language.
  var unix: UnixTime { UnixTime(milliseconds: milliseconds) }
}

extension Expiration {
  init(_ deadline: Deadline) {
    self = deadline.time.map { .at(Timestamp($0)) } ?? .never
  }
}
