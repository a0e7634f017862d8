/// The facts of one entry, as expressions read them.
package struct QueryInput {
  package var key: [UInt8] = []
  package var namespace = ""
  package var codec = ""
  package var entityTag: [UInt8]?
  package var state = ""
  package var size = 0
  package var stored = 0
  package var version = 0
  package var written = UnixTime(milliseconds: 0)
  package var used: UnixTime?
  package var expires: UnixTime?
  package var lastModified: [UInt8]?
  package var tags: [String] = []
  package var isPinned = false
  package var isNegative = false
  package var metadata: [UInt8]?
  /// The HTTP status and fields, read from the metadata.
  package var response: (status: Int, fields: [(name: [UInt8], value: [UInt8])])?

  package init() {}
}
