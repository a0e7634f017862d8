public import Larder

extension Store {
  /// Makes that the most the file may grow to, in bytes; the other limits stay what they are.
  public func declare(diskLimit: Int) throws(LarderError) {
    var limits = try limits().declared
    limits.disk = diskLimit
    try declare(limits)
  }

  /// Whether nobody has stored anything in it or said how much it may hold.
  var isUntouched: Bool {
    get throws(LarderError) {
      if isReadOnly { return false }
      let (limits, namespaces) = (try limits(), try namespaces())
      return limits.declared == StoreLimits() && limits.overrides == StoreLimits()
        && namespaces.isEmpty
    }
  }
}
