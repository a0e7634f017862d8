import HTTPTypes

/// Asking the origin whether stored responses still hold (RFC 9111, 4.3.1 and 4.3.4).
enum Validation {
  /// `request` with the validators of `stored` in the place of the client's own conditions; each as it came, byte for
  /// byte.
  static func request(_ request: HTTPRequest, of stored: [StoredResponse]) -> HTTPRequest {
    var request = request
    request.headerFields.removeAll(ClientCondition.fields)
    let tagged = stored.compactMap { stored in
      stored.fields[fields: .eTag].first.flatMap { $0.value.isEmpty ? nil : $0 }
    }
    if tagged.count == 1 {
      // Copied as a field: its bytes need not be text.
      var field = tagged[0]
      field.name = .ifNoneMatch
      request.headerFields.append(field)
    } else if !tagged.isEmpty {
      request.headerFields[.ifNoneMatch] = tagged.map(\.value).joined(separator: ", ")
    }
    if stored.count == 1, let modified = stored[0].fields[fields: .lastModified].first {
      var field = modified
      field.name = .ifModifiedSince
      request.headerFields.append(field)
    }
    return request
  }

  /// Which of the responses that were asked about a 304 speaks of; nil if that cannot be told.
  ///
  /// With validators it is the one that has them. Without any, which RFC 9111 does not provide for and servers do, it is
  /// the one that was asked about, if there was only one.
  static func confirmed(_ fields: HTTPFields, among stored: [StoredResponse]) -> Int? {
    if let tag = EntityTag(fields) {
      return stored.firstIndex { $0.entityTag.map(tag.matchesWeakly) ?? false }
    }
    let candidates = stored.indices.filter { index in
      guard let modified = fields[values: .lastModified].first else { return true }
      return stored[index].lastModified.map { $0 == modified } ?? true
    }
    return candidates.count == 1 ? candidates[0] : nil
  }
}
