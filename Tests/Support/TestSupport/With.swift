package import Larder

/// A copy of `value` after `change` has changed the copy.
package func with<Value>(_ value: Value, _ change: (inout Value) throws -> Void) rethrows -> Value {
  var changed = value
  try change(&changed)
  return changed
}

extension EntryAttributes {
  package static func with(
    codec: CodecID = .bytes, expires: Expiration? = nil, stale: Duration? = nil,
    tags: [String] = [], owners: [Owner] = [], entityTag: [UInt8]? = nil,
    lastModified: [UInt8]? = nil, metadata: [UInt8]? = nil, isPinned: Bool? = nil
  ) -> EntryAttributes {
    var attributes = EntryAttributes(codec: codec, expires: expires)
    attributes.stale = stale
    attributes.isPinned = isPinned
    if !tags.isEmpty { attributes.tags = tags }
    if !owners.isEmpty { attributes.owners = owners }
    if let entityTag { attributes.entityTag = entityTag }
    if let lastModified { attributes.lastModified = lastModified }
    if let metadata { attributes.metadata = metadata }
    return attributes
  }
}

extension LoadOptions {
  /// The default options, except that a caller gets a value only after the commit of the value.
  package static let committed = LoadOptions(waitsForCommit: true)
}
