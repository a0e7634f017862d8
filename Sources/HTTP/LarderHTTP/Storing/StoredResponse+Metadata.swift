#if HTTP
  import HTTPTypes
  import Larder

  /// The form of ``ResponseMetadata``.
  extension StoredResponse {
    func encodedMetadata() -> [UInt8] {
      let version =
        partSize == nil ? ResponseMetadata.version : ResponseMetadata.versionWithParts
      var head = "\(version)\(response.status.code) \(response.status.reasonPhrase)\n"
      head += "requested \(requested.milliseconds)\nreceived \(received.milliseconds)\n"
      if let bodyID { head += "body \(String(bodyID, radix: 16))\n" }
      if let partSize { head += "length \(bodySize)\nparts \(partSize)\n" }
      if let assignedFreshness { head += "freshness \(assignedFreshness)\n" }
      if let credential { head += "credential \(credential)\n" }
      for (name, value) in vary.fields {
        head += "vary " + name + (value.map { "=" + $0 } ?? "") + "\n"
      }
      var bytes = Array((head + "\n").utf8)
      for field in fields {
        bytes += Array(field.name.rawName.utf8)
        bytes += [0x3A, 0x20]
        bytes += field.valueBytes
        bytes.append(0x0A)
      }
      return bytes
    }

    /// Reads metadata; nil for bytes that are not the metadata of a response in a known version.
    ///
    /// - Parameter bodySize: the length of the entry's value.
    init?(metadata: [UInt8], bodySize: Int) {
      // `HTTPFields` traps beyond a limit, so a damaged or foreign record must not reach it.
      guard let metadata = ResponseMetadata(metadata),
        metadata.fields.count <= 4 * HTTPCacheError.largestFieldCount,
        let requested = metadata.note("requested").flatMap({ Int64($0) }),
        let received = metadata.note("received").flatMap({ Int64($0) })
      else { return nil }
      let phrase = String(decoding: metadata.status.dropFirst(4), as: UTF8.self)
      response = HTTPResponse(status: .init(code: metadata.code, reasonPhrase: phrase))
      self.bodySize = bodySize
      self.requested = Timestamp(milliseconds: requested)
      self.received = Timestamp(milliseconds: received)
      bodyID = metadata.note("body").flatMap { UInt64($0, radix: 16) }
      assignedFreshness = metadata.note("freshness").flatMap { Int($0) }
        .map { min(max(0, $0), DeltaSeconds.most) }
      credential = metadata.note("credential")
      vary = VaryKey(
        fields: metadata.notes.filter { $0.name == "vary" }.map { note in
          let pair = note.value.split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
          return (String(pair[0]), pair.count == 2 ? String(pair[1]) : nil)
        })
      if metadata.isInParts {
        guard bodyID != nil, let length = metadata.note("length").flatMap({ Int64($0) }),
          (0...BodyParts.largestBody) ~= length,
          let size = metadata.note("parts").flatMap({ Int64($0) }),
          (1...Int64(Rules.largestPossibleValue)) ~= size
        else { return nil }
        self.bodySize = Int(length)
        partSize = Int(size)
      }
      for (name, value) in metadata.fields {
        guard let name = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { return nil }
        response.headerFields.append(HTTPField(name: name, lenientValue: value))
      }
    }
  }
#endif
