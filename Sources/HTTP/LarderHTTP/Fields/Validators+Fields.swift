#if HTTP
  public import HTTPTypes
  public import Larder

  extension CachedValue {
    /// The fields of a request that asks whether the value is still current, with the validators byte for byte; empty without
    /// validators. A 304 then means ``Loaded/unchanged``.
    public var conditionalFields: HTTPFields {
      var fields = HTTPFields()
      if let entityTag = validators.entityTag {
        fields.append(HTTPField(name: .ifNoneMatch, lenientValue: entityTag))
      }
      if let lastModified = validators.lastModified {
        fields.append(HTTPField(name: .ifModifiedSince, lenientValue: lastModified))
      }
      return fields
    }
  }

  extension Validators {
    /// The validators of a response.
    public init(of response: HTTPResponse) {
      self.init(
        entityTag: response.headerFields[fields: .eTag].first?.valueBytes,
        lastModified: response.headerFields[fields: .lastModified].first?.valueBytes)
    }
  }
#endif
