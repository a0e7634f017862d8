public import Larder

extension Store {
  /// Sets the limit of the file's size, in bytes; the other limits stay.
  public func declare(diskLimit: Int) throws(LarderError) {
    var limits = try limits().declared
    limits.disk = diskLimit
    try declare(limits)
  }

  /// Whether it has neither namespaces nor limits.
  var isUntouched: Bool {
    get throws(LarderError) {
      if isReadOnly { return false }
      let (limits, namespaces) = (try limits(), try namespaces())
      return limits.declared == StoreLimits() && limits.overrides == StoreLimits()
        && namespaces.isEmpty
    }
  }
}
