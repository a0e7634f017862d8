public import HTTPTypes
public import LarderHTTP
public import NIOCore

/// Carries requests to one origin in HTTP/1.1, each over a connection of its own, so that none is ever sent twice.
///
/// Methods, statuses, fields and their order are as they come; a body is read as fast as it is wanted.
public struct OriginTransport: HTTPTransport {
  /// `HTTPTypes` has no name for it, since newer versions of HTTP have no such field.
  static let host = HTTPField.Name("Host")!

  let address: Address
  let group: any EventLoopGroup

  public init(to address: Address, on group: any EventLoopGroup) {
    self.address = address
    self.group = group
  }

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let connection = try await Connection.connect(to: address, on: group)
    let upload = Upload(body, over: connection)
    do {
      try await upload.begin(after: head(of: request, body: body).encodedHead)
      let reader = MessageReader(connection)
      while true {
        guard let head = try await reader.head(isLenient: true) else {
          throw MessageError.incomplete
        }
        let response = try Self.response(head, to: request.method)
        if (100...199).contains(response.status.code), response.status.code != 101 {
          await interim(response)
          continue
        }
        await reader.begin(Framing(of: response, to: request.method))
        return (response, self.body(of: reader, closing: Closing(connection)))
      }
    } catch {
      connection.close()
      // Without the whole request the origin cannot answer: the reason is what the client did.
      throw upload.failure ?? error
    }
  }

  private func head(of request: HTTPRequest, body: HTTPBody) -> HTTPRequest {
    var head = request
    var fields: HTTPFields = [Self.host: request.authority ?? address.description]
    for field in request.headerFields.endToEnd
    where ![Self.host, .contentLength, .expect].contains(field.name) {
      fields.append(field)
    }
    if let count = body.count {
      if count > 0 || [.post, .put, .patch].contains(request.method) {
        fields[.contentLength] = String(count)
      }
    } else {
      fields[.transferEncoding] = "chunked"
    }
    fields[.connection] = "close"
    head.headerFields = fields
    return head
  }

  private func body(of reader: MessageReader, closing: Closing) -> HTTPBody {
    HTTPBody(next: {
      do {
        if let piece = try await reader.piece() { return piece }
      } catch {
        closing.connection.close()
        throw error
      }
      closing.connection.close()
      return nil
    })
  }

  static func response(_ head: MessageHead, to method: HTTPRequest.Method) throws -> HTTPResponse {
    let words = head.start.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count >= 2, words[0].uppercased().hasPrefix("HTTP/1."), words[1].utf8.count == 3,
      let code = Int(words[1]), (100...999).contains(code)
    else { throw MessageError.malformed("\"\(head.start)\" is no status line") }
    var fields = head.fields
    // RFC 9112, 6.3: the transfer coding overrides the length, which must not be passed on.
    if fields.contains(.transferEncoding) { fields[.contentLength] = nil }
    let response = HTTPResponse(
      status: .init(code: code, reasonPhrase: words.count == 3 ? String(words[2]) : ""),
      headerFields: fields)
    guard case .length(let count) = Framing(of: response, to: method) else {
      if method != .head, Framing.isAmbiguous(fields) {
        throw MessageError.malformed("the length of the response is ambiguous")
      }
      return response
    }
    // A length that is stated twice is passed on once.
    guard count > 0, fields[values: .contentLength].count > 1 else { return response }
    var single = response
    single.headerFields[.contentLength] = String(count)
    return single
  }
}

/// Ends a connection when its body is let go of.
private final class Closing: Sendable {
  let connection: Connection
  init(_ connection: Connection) { self.connection = connection }
  deinit { connection.close() }
}
